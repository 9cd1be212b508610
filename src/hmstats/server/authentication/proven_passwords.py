"""Passwords that were proven a short while ago, so that not every connection asks the directory.

A user has one at most, as a digest with a key of this process. Each worker remembers for itself.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from hmstats.model.access.principal import Principal

_MOST = 10_000


class ProvenPasswords:
    """The last proven password of each user, for some seconds; with 0 seconds none is kept."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._proven: OrderedDict[str, tuple[bytes, Principal, float]] = OrderedDict()
        """The digest of a password, whom it proved, and until when it counts."""

    def find(self, user: str, password: str) -> Principal | None:
        """The user that the password has proven within the last seconds; None without one."""
        with self._lock:
            digest, principal, until = self._proven.get(user, (b"", None, 0.0))
        if principal is None or self._clock() >= until:
            return None
        return principal if hmac.compare_digest(digest, self._digest(user, password)) else None

    def put(self, user: str, password: str, principal: Principal) -> None:
        """Remember a password that was proven now, in place of the user's older one."""
        if self._seconds <= 0:
            return
        entry = self._digest(user, password), principal, self._clock() + self._seconds
        with self._lock:
            self._proven.pop(user, None)
            self._proven[user] = entry
            while len(self._proven) > _MOST:
                self._proven.popitem(last=False)

    def remove(self, user: str) -> None:
        """Forget the user's password, since another one was wrong."""
        with self._lock:
            self._proven.pop(user, None)

    def _digest(self, user: str, password: str) -> bytes:
        return hashlib.blake2b(f"{user}\0{password}".encode(), key=self._key).digest()

"""Slows down clients that guess passwords: by address and user together, and by address for all users.

A user is never locked for other addresses, so that nobody can lock a user out. While a pause lasts, tries are refused
without a look at the password, which costs nothing. Each worker counts for itself.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from unicodedata import normalize

from hmstats.errors import NotAuthenticated

_BY_USER, _BY_ADDRESS = (5, 60.0), (50, 2.0)
"""Failures that slow nobody down, and the longest pause in seconds; others at the address may have the right ones."""
_FORGOTTEN_SECONDS = 3_600.0
_MOST = 10_000

_Key = tuple[str, str | None]
"""An address, and a user whose name is spelled as directories compare it; None: all users."""


class Guessing:
    """Failed tries of the last hour, and until when the next one is refused."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._failures: OrderedDict[_Key, tuple[int, float]] = OrderedDict()
        """How often a try failed, and when the last one did."""

    def allow(self, address: str, user: str) -> None:
        """Raise NotAuthenticated if a try comes too early after failed ones."""
        with self._lock:
            pause_seconds = max(
                self._pause_left(_key(address, user), *_BY_USER), self._pause_left((address, None), *_BY_ADDRESS)
            )
        if pause_seconds > 0:
            raise NotAuthenticated(f"too many wrong passwords; try again in {pause_seconds:.0f} seconds")

    def count_failure(self, address: str, user: str) -> None:
        """Count a failed try."""
        now = self._clock()
        with self._lock:
            for key in (_key(address, user), (address, None)):
                count, at = self._failures.pop(key, (0, now))
                self._failures[key] = (1 if now - at > _FORGOTTEN_SECONDS else count + 1), now
            while len(self._failures) > _MOST:
                self._failures.popitem(last=False)

    def clear_failures(self, address: str, user: str) -> None:
        """Forget the failed tries of a user at an address, who has the password."""
        with self._lock:
            self._failures.pop(_key(address, user), None)

    def _pause_left(self, key: _Key, free: int, longest_seconds: float) -> float:
        count, at = self._failures.get(key, (0, 0.0))
        if count < free:
            return 0.0
        pause_seconds = min(2.0 ** min(count - free, 10), longest_seconds)
        return at + pause_seconds - self._clock()


def _key(address: str, user: str) -> _Key:
    return address, normalize("NFKC", user).casefold()

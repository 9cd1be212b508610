"""Connections to the metastore that threads share: one belongs to one request at a time, and to one proof of a user.

The page has no identity of its own. What a request shows as its proof (the Authorization header) goes to the metastore
as it is, on a connection that only requests with the same proof use.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hmstats.client import Metastore
from hmstats.errors import CallRefused, StatementError

MOST_IDLE = 16
_UNPROVEN = "status 401"


class Metastores:
    """Idle connections by proof, the last used first; more are opened when all are in use. Thread-safe.

    `takes_proofs`: the metastore is reached over HTTP, which alone carries them. `needs_proofs`: the process has a
    certificate, by which a request without a proof would be taken for the process.
    """

    def __init__(
        self, opened: Callable[[str | None], Metastore], *, takes_proofs: bool = False, needs_proofs: bool = False
    ) -> None:
        self._open = opened
        self._takes_proofs = takes_proofs
        self._needs_proofs = needs_proofs
        self._idle: OrderedDict[str | None, list[Metastore]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def connection(self, proof: str | None = None) -> Iterator[Metastore]:
        """A connection for one request; afterwards it is idle again, or closed if the metastore refuses the proof.

        Raises StatementError for a proof that cannot be passed on, CallRefused if one is missing.
        """
        if proof is not None and not self._takes_proofs:
            raise StatementError(
                "the page cannot pass a user and password or a token on to a metastore at thrift://: "
                "expected --metastore http://HOST:PORT or https://HOST:PORT"
            )
        if proof is None and self._needs_proofs:
            raise CallRefused("HTTP", _UNPROVEN, "who asks must be proven by a user and password, or a token")
        found = self._take_idle(proof) or self._open(proof)
        try:
            yield found
        except CallRefused as error:
            if error.kind == _UNPROVEN:
                found.close()
            else:
                self._put(proof, found)
            raise
        except BaseException:
            self._put(proof, found)
            raise
        self._put(proof, found)

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            every = [each for some in self._idle.values() for each in some]
            self._idle.clear()
        for each in every:
            each.close()

    def _take_idle(self, proof: str | None) -> Metastore | None:
        with self._lock:
            some = self._idle.get(proof)
            if not some:
                return None
            found = some.pop()
            if not some:
                del self._idle[proof]
            return found

    def _put(self, proof: str | None, found: Metastore) -> None:
        """Keep the connection; of too many, one of the proof that was not used for longest is closed."""
        with self._lock:
            self._idle.setdefault(proof, []).append(found)
            self._idle.move_to_end(proof)
            if sum(map(len, self._idle.values())) <= MOST_IDLE:
                return
            oldest, some = next(iter(self._idle.items()))
            surplus = some.pop(0)
            if not some:
                del self._idle[oldest]
        surplus.close()

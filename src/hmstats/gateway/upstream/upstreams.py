"""The upstream's addresses, all of the same metastore: the first one that answers is used, the others stand by."""

import threading
import time
from collections.abc import Iterator, Sequence

import structlog

from hmstats.client.connection.address import Address
from hmstats.errors import UpstreamAway
from hmstats.gateway.upstream.metrics import UP

_log = structlog.get_logger("hmstats.gateway")

_PAUSE_SECONDS = 2.0
"""How long an address that did not answer is left alone; after that one call at a time tries the address."""


class Upstreams:
    """The addresses in the operator's order. Thread-safe."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self.addresses = tuple(addresses)
        self._paused_until: dict[Address, float] = {}
        self._hanging: set[Address] = set()
        """Addresses that accept connections but have not answered for a while, until they answer."""
        self._last_answers: dict[Address, float] = {}
        self._reasons: dict[Address, str] = {}
        self._lock = threading.Lock()

    def usable(self) -> Iterator[Address]:
        """The addresses to try, the preferred one first, without those that failed just now or hang."""
        for address in self.addresses:
            if address not in self._hanging and self._may_try(address):
                yield address

    @property
    def preferred(self) -> Address | None:
        """The first address; None if it failed just now, or hangs."""
        first = self.addresses[0]
        return first if self._is_promising(first) else None

    def failed(self, address: Address, reason: str) -> None:
        """Leave an address alone for a while."""
        with self._lock:
            is_new = address not in self._paused_until
            self._reasons[address] = reason
            self._paused_until[address] = time.monotonic() + _PAUSE_SECONDS
        if is_new:
            _log.warning("upstream_away", address=str(address), reason=reason)
        UP.labels(str(address)).set(0)

    def note(self, address: Address, reason: str) -> None:
        """Record why a call could not be made, for the error message."""
        self._reasons[address] = reason

    def misbehaves(self, address: Address, reason: str) -> None:
        """Record that an address accepts connections but gave no usable answer; it still gets calls."""
        self.note(address, reason)
        UP.labels(str(address)).set(0)

    def reached(self, address: Address) -> None:
        """Record that an address has accepted a connection."""
        UP.labels(str(address)).set(1)
        if address in self._paused_until:
            with self._lock:
                self._paused_until.pop(address, None)
            _log.info("upstream_back", address=str(address))

    def hangs(self, address: Address, reason: str, since: float) -> None:
        """Leave an address alone until it answers, unless another call had an answer from it after `since`."""
        with self._lock:
            if self._last_answers.get(address, 0.0) > since:
                return
            is_new = address not in self._hanging
            self._reasons[address] = reason
            self._hanging.add(address)
        if is_new:
            _log.warning("upstream_hangs", address=str(address), reason=reason)
        UP.labels(str(address)).set(0)

    def answered(self, address: Address) -> None:
        """Record that an answer has come from an address."""
        with self._lock:
            self._last_answers[address] = time.monotonic()
            has_hung = address in self._hanging
            self._hanging.discard(address)
        if has_hung:
            _log.info("upstream_answers_again", address=str(address))
            UP.labels(str(address)).set(1)

    @property
    def is_hanging(self) -> bool:
        """Whether no address answers, although at least one accepts connections."""
        return bool(self._hanging) and not any(self._is_promising(each) for each in self.addresses)

    def unavailable(self) -> UpstreamAway:
        """The error of a call for which no address could be reached."""
        said = "; ".join(f"{each}: {self._reasons.get(each, 'not tried')}" for each in self.addresses)
        return UpstreamAway(f"the upstream metastore cannot be reached at {said}; try again later")

    def _is_promising(self, address: Address) -> bool:
        return address not in self._hanging and address not in self._paused_until

    def _may_try(self, address: Address) -> bool:
        if address not in self._paused_until:
            return True
        now = time.monotonic()
        with self._lock:
            if now < self._paused_until.get(address, 0.0):
                return False
            self._paused_until[address] = now + _PAUSE_SECONDS  # the others wait for the outcome of this call
            return True

"""The upstream's addresses. All are the same metastore: the first one that answers is asked, the others stand by."""

import socket
import threading
import time
from collections.abc import Iterator, Sequence

import structlog

from hmstats.client.connection.address import Address
from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.upstream.metrics import UP

_log = structlog.get_logger("hmstats.gateway")

_PAUSE_SECONDS = 2.0
"""How long an address that did not answer is left alone; after that one call at a time tries it."""


class Upstreams:
    """The addresses in the operator's order. Thread-safe."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._addresses = tuple(addresses)
        self._paused_until: dict[Address, float] = {}
        self._reasons: dict[Address, str] = {}
        self._lock = threading.Lock()

    def usable(self) -> Iterator[Address]:
        """The addresses to try, the preferred one first; none that failed a moment ago."""
        for address in self._addresses:
            if self._may_try(address):
                yield address

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
        """Note why a call could not be made, for its error."""
        self._reasons[address] = reason

    def reached(self, address: Address) -> None:
        """Note that an address has taken a connection."""
        UP.labels(str(address)).set(1)
        if address in self._paused_until:
            with self._lock:
                self._paused_until.pop(address, None)
            _log.info("upstream_back", address=str(address))

    def probe(self, connect_seconds: float) -> None:
        """Try each address with a connection that is closed at once, so that one that stands by is known too."""
        for address in self._addresses:
            try:
                socket.create_connection((address.host, address.port), connect_seconds).close()
            except OSError as error:
                self.failed(address, error.strerror or str(error))
            else:
                self.reached(address)

    def unavailable(self) -> UpstreamUnavailable:
        """The error of a call for which no address could be reached."""
        said = "; ".join(f"{each}: {self._reasons.get(each, 'not tried')}" for each in self._addresses)
        return UpstreamUnavailable(f"the upstream metastore cannot be reached at {said}; try again later")

    def _may_try(self, address: Address) -> bool:
        if address not in self._paused_until:
            return True
        now = time.monotonic()
        with self._lock:
            if now < self._paused_until.get(address, 0.0):
                return False
            self._paused_until[address] = now + _PAUSE_SECONDS  # the others wait for what this call finds
            return True

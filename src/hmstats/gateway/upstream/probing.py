"""Finds out which addresses of the upstream answer, by a small question over a separate connection.

An address may accept connections but not answer, like a Hive that waits for its database. It gets no calls until it
answers again.
"""

import time
from collections.abc import Callable

from hmstats.client.connection.address import Address
from hmstats.errors import MetaError, UpstreamClosed, UpstreamSilent, UpstreamUnavailable
from hmstats.gateway.upstream.arriving import Unanswered
from hmstats.gateway.upstream.calling import WholeAnswer, request_of
from hmstats.gateway.upstream.connection import UpstreamConnection, User
from hmstats.gateway.upstream.upstreams import Upstreams

PROBED_SECONDS = 10.0
_QUESTION = "get_current_notificationEventId"
"""Every metastore since Hive 1.2 knows this call and needs its database for it; a refusal counts as an answer too."""


class Probing:
    """Probes all addresses. One that does not answer within `seconds`, the timeout of `connect`, hangs."""

    def __init__(
        self, upstreams: Upstreams, connect: Callable[[Address, User], UpstreamConnection], seconds: float
    ) -> None:
        self._upstreams = upstreams
        self._connect = connect
        self._seconds = seconds

    def run(self) -> None:
        """Probe each address once, including those on standby."""
        for address in self._upstreams.addresses:
            self._ask(address)

    def _ask(self, address: Address) -> None:
        since = time.monotonic()
        try:
            connection = self._connect(address, User(None))
        except OSError as error:
            self._upstreams.failed(address, error.strerror or str(error))
            return
        except (Unanswered, UpstreamClosed, UpstreamUnavailable) as error:  # it may accept other users
            self._upstreams.misbehaves(address, str(error))
            return
        try:
            connection.ask(request_of(_QUESTION), WholeAnswer())
        except UpstreamSilent:
            self._upstreams.hangs(address, f"no answer in {self._seconds:g} seconds", since)
        except (Unanswered, UpstreamClosed, MetaError) as error:
            self._upstreams.misbehaves(address, str(error))
        else:
            self._upstreams.answered(address)
            self._upstreams.reached(address)
        finally:
            connection.close()

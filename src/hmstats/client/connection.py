"""One connection to a metastore: made when it is needed, and made again, to the next address, when it broke.

A call that got no answer is asked again: every call that this package makes gives the same when done twice.
"""

import contextlib
import getpass
import socket
from collections.abc import Iterator, Sequence
from time import sleep
from typing import Any

from thriftpy2.protocol.cybin import ProtocolError, TCyBinaryProtocol
from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TClient, TException
from thriftpy2.transport import TSocket, TTransportException
from thriftpy2.transport.buffered import TCyBufferedTransport

from hmstats.client.address import Address
from hmstats.errors import ServiceUnavailable
from hmstats.wire.faults import from_thrift
from hmstats.wire.idl import EXTENDED_SERVICE

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 10.0
_BROKEN = (OSError, EOFError, TTransportException, TProtocolException, ProtocolError)


class Connection:
    """A connection that heals. Not for several threads at once.

    `timeout_seconds` is how long one answer may take; `retries` is how often all addresses are tried again, after
    pauses that grow.
    """

    def __init__(self, addresses: Sequence[Address], *, timeout_seconds: float, retries: int) -> None:
        self._addresses = tuple(addresses)
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._turn = 0
        self._client: Any = None

    @property
    def address(self) -> Address:
        """The address in use."""
        return self._addresses[self._turn % len(self._addresses)]

    def call(self, method: str, *arguments: Any) -> Any:
        """The answer to a call.

        Raises CallRefused when the metastore answers with an exception, and ServiceUnavailable when no address
        answers or an answer takes longer than the limit.
        """
        for pause_seconds in self._pauses_seconds():
            try:
                return self._ask(method, arguments)
            except _Broken:
                self._turn += 1
                sleep(pause_seconds)
        return self._ask(method, arguments)

    def close(self) -> None:
        """Say goodbye and close; a later call connects again."""
        if self._client is not None:
            with contextlib.suppress(TException, *_BROKEN):
                self._client.shutdown()
            self._drop()

    def _pauses_seconds(self) -> Iterator[float]:
        """What to wait after each attempt but the last: nothing until every address had its turn, then ever longer."""
        untried = [0.0] * (len(self._addresses) - 1)
        yield from untried
        for number in range(self._retries):
            yield min(_FIRST_PAUSE_SECONDS * 2**number, _LONGEST_PAUSE_SECONDS)
            yield from untried

    def _ask(self, method: str, arguments: Sequence[Any]) -> Any:
        try:
            client = self._client or self._open()
            return getattr(client, method)(*arguments)
        except TimeoutError as error:
            self._drop()
            sentence = f"{self.address} did not answer {method} in {self._timeout_seconds:g} seconds"
            raise ServiceUnavailable(sentence) from error
        except _BROKEN as error:
            self._drop()
            raise _Broken(f"the connection to {self.address} broke in {method}: {_reason(error)}") from error
        except TException as error:
            raise from_thrift(method, error) from error

    def _open(self) -> Any:
        """A new client; the metastore is told who calls, as Hive's own client does."""
        address = self.address
        try:
            sock = socket.create_connection((address.host, address.port), self._timeout_seconds)
        except OSError as error:
            raise _Broken(f"no metastore can be reached at {address}: {_reason(error)}") from error
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = TCyBufferedTransport(TSocket(sock=sock))
        self._client = TClient(EXTENDED_SERVICE, TCyBinaryProtocol(transport))
        self._client.set_ugi(getpass.getuser(), [])
        return self._client

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


class _Broken(ServiceUnavailable):
    """No connection could be made, or it broke: worth another attempt."""


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or getattr(error, "message", None) or error or type(error).__name__)

"""One connection to a metastore: opened at the first call, and opened again, to the next address, if it broke.

A call without an answer is retried, since every call of this package is idempotent.
"""

import contextlib
import itertools
import math
import random
import socket
import ssl
from collections.abc import Iterator, Sequence
from time import monotonic, sleep
from typing import Any

from thriftpy2.protocol.cybin import ProtocolError
from thriftpy2.protocol.exc import TProtocolException
from thriftpy2.thrift import TApplicationException, TException
from thriftpy2.transport import TSocket, TTransportException

from hmstats import tracing
from hmstats.client.connection.address import Address
from hmstats.client.connection.credentials import Credentials, credentials
from hmstats.client.connection.delegation_token import DelegationTokenProof
from hmstats.client.connection.http_transport import HttpTransport
from hmstats.client.connection.kerberos_ticket import KerberosTicket
from hmstats.client.connection.sasl_transport import Mechanism, SaslTransport
from hmstats.client.connection.scanned_answers import ScannedAnswers
from hmstats.client.connection.thrift_client import ThriftClient
from hmstats.errors import CallRefused, ServiceUnavailable, SettingsError
from hmstats.errors import ProtocolError as NotThrift
from hmstats.process_user import user_name
from hmstats.wire.faults import TRY_AGAIN, from_thrift
from hmstats.wire.idl import EXTENDED_SERVICE

_FIRST_PAUSE_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 10.0
_BROKEN = (OSError, EOFError, TTransportException, TProtocolException, ProtocolError, NotThrift)
_LEAST_TIMEOUT_SECONDS = 0.1
_CONNECT_SECONDS = 10.0
"""Shorter than the timeout of an answer, so that an unreachable machine does not delay the next address."""


class Connection:
    """A connection that reconnects by itself. Not thread-safe.

    `timeout_seconds` limits one answer. `retries` is how often all addresses are retried, with exponential backoff and
    jitter. With `patience_seconds` they are retried until so much time has passed since the call began, and so is a
    call after a timeout; an internal error of the metastore is still retried `retries` times. A server of hmstats that
    reports to be busy, or its database to be unavailable, counts as an address that does not answer. What proves the
    user is taken from the environment (credentials.py) unless `shown` is given.
    """

    def __init__(
        self,
        addresses: Sequence[Address],
        *,
        timeout_seconds: float,
        retries: int,
        patience_seconds: float | None = None,
        shown: Credentials | None = None,
    ) -> None:
        self._addresses = tuple(addresses)
        self._timeout_seconds = timeout_seconds
        self._retries = retries
        self._patience_seconds = patience_seconds
        self.credentials = credentials() if shown is None else shown
        self._turn = 0
        self._client: Any = None
        self._socket: Any = None
        self._answers: Any = None

    @property
    def address(self) -> Address:
        """The address in use."""
        return self._addresses[self._turn % len(self._addresses)]

    def call(self, method: str, *arguments: Any) -> Any:
        """The answer to a call.

        Raises CallRefused when the metastore answers with an exception, and ServiceUnavailable when no address
        answers, an answer takes longer than the limit, or the metastore's own database is away.
        """
        end = math.inf if self._patience_seconds is None else monotonic() + self._patience_seconds
        pauses_seconds = self._pauses_seconds()
        internal_errors = 0
        while True:
            pause_seconds = next(pauses_seconds)
            try:
                return self._ask(method, arguments, end)
            except _Broken as error:
                self._turn += 1
                if monotonic() + pause_seconds >= end:
                    raise ServiceUnavailable(str(error)) from error.__cause__
            except _Internal as error:
                internal_errors += 1
                if internal_errors > self._retries or monotonic() + pause_seconds >= end:
                    raise CallRefused(error.method, error.kind, error.message) from error.__cause__
            sleep(pause_seconds)

    def another(self) -> "Connection":
        """A new connection to the same addresses and as the same user, for another thread."""
        return Connection(
            self._addresses,
            timeout_seconds=self._timeout_seconds,
            retries=self._retries,
            patience_seconds=self._patience_seconds,
            shown=self.credentials,
        )

    def close(self) -> None:
        """Send `shutdown` and close; a later call connects again."""
        if self._client is not None:
            with contextlib.suppress(TException, *_BROKEN):
                self._client.shutdown()
            self._drop()

    def _pauses_seconds(self) -> Iterator[float]:
        """The pause after each attempt: 0 until every address was tried, then longer; infinity after the last."""
        untried = [0.0] * (len(self._addresses) - 1)
        yield from untried
        for number in itertools.count() if self._patience_seconds is not None else range(self._retries):
            longest = min(_FIRST_PAUSE_SECONDS * 2 ** min(number, 10), _LONGEST_PAUSE_SECONDS)
            yield random.uniform(longest / 2, longest)
            yield from untried
        yield math.inf

    def _ask(self, method: str, arguments: Sequence[Any], end: float) -> Any:
        limit_seconds = max(min(self._timeout_seconds, end - monotonic()), _LEAST_TIMEOUT_SECONDS)
        try:
            client = self._client or self._open(limit_seconds)
            self._limit_answers(limit_seconds)
            with tracing.inner_span(method, "client", rpc__system="hive_metastore", rpc__method=method):
                return getattr(client, method)(*arguments)
        except TimeoutError as error:
            self._drop()
            sentence = f"{self.address} did not answer {method} in {limit_seconds:g} seconds"
            raise (ServiceUnavailable if self._patience_seconds is None else _Broken)(sentence) from error
        except _BROKEN as error:
            self._drop()
            raise _Broken(f"the connection to {self.address} broke in {method}: {_reason(error)}") from error
        except TException as error:
            refusal = from_thrift(method, error)
            if refusal.message.endswith(TRY_AGAIN):
                self._drop()
                raise _Broken(f"{self.address} cannot answer {method} now: {refusal.message}") from error
            if self._patience_seconds is not None and _is_internal(error):
                raise _Internal(method, refusal.kind, refusal.message) from error
            raise refusal from error

    def _open(self, limit_seconds: float) -> Any:
        """A new client, which has sent the user's name as Hive's own client does."""
        opened = self._open_http if self.address.path is not None else self._open_plain
        self._answers = ScannedAnswers(opened(min(limit_seconds, _CONNECT_SECONDS)))
        self._client = ThriftClient(EXTENDED_SERVICE, self._answers)
        try:
            self._limit_answers(limit_seconds)
            self._client.set_ugi(self.credentials.user or user_name(), [])
        except (TException, CallRefused):
            self._drop()  # the server may have closed the connection behind its refusal
            raise
        return self._client

    def _limit_answers(self, seconds: float) -> None:
        self._socket.settimeout(seconds)
        self._answers.limit_seconds = seconds

    def _open_plain(self, connect_seconds: float) -> Any:
        address = self.address
        try:
            self._socket = socket.create_connection((address.host, address.port), connect_seconds)
        except OSError as error:
            raise _Broken(f"no metastore can be reached at {address}: {_reason(error)}") from error
        if address.tls:
            with _handshake(address, self._socket):
                self._socket = self.credentials.context().wrap_socket(self._socket, server_hostname=address.host)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            mechanism = self._mechanism(address.host)
            if mechanism is None:
                return TSocket(sock=self._socket)
            return SaslTransport(self._socket, mechanism, over_tls=address.tls)
        except (CallRefused, SettingsError, *_BROKEN):
            self._socket.close()
            raise

    def _mechanism(self, host: str) -> Mechanism | None:
        """The mechanism that proves the user without HTTP; None without one. Raises SettingsError."""
        if self.credentials.delegation_token is not None:
            return DelegationTokenProof(self.credentials.delegation_token)
        principal = self.credentials.principal_at(host)
        return None if principal is None else KerberosTicket(principal)

    def _open_http(self, connect_seconds: float) -> Any:
        address = self.address
        if self.credentials.authorization is not None and not (address.tls or address.is_loopback):
            raise SettingsError(f"a token is not sent to {address} unencrypted: use https://")
        transport = HttpTransport(address, self.credentials, connect_seconds)
        with _handshake(address, transport):
            transport.open()
        self._socket = transport
        return transport

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


@contextlib.contextmanager
def _handshake(address: Address, opened: Any) -> Iterator[None]:
    """Translate errors during connecting into errors that name the address, and close the connection."""
    try:
        yield
    except SettingsError:
        opened.close()
        raise
    except ssl.SSLCertVerificationError as error:
        opened.close()
        raise ServiceUnavailable(f"the certificate of {address} is not trusted: {error.verify_message}") from error
    except ConnectionRefusedError as error:
        raise _Broken(f"no metastore can be reached at {address}: {_reason(error)}") from error
    except OSError as error:
        opened.close()
        said = "does not speak TLS as expected" if address.tls else "cannot be reached"
        raise _Broken(f"{address} {said}: {_reason(error)}") from error


class _Broken(ServiceUnavailable):
    """A failed or broken connection, or a metastore that asks to try again: retried."""


class _Internal(CallRefused):
    """An internal error of the metastore: retried."""


def _is_internal(error: TException) -> bool:
    return isinstance(error, TApplicationException) and error.type == TApplicationException.INTERNAL_ERROR


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or getattr(error, "message", None) or error or type(error).__name__)

"""Messages in the bodies of HTTP requests, on one connection that stays open between calls."""

import http.client
import io
import math
import socket
import time
from http import HTTPStatus
from typing import Any

from thriftpy2.transport import TTransportException

from hmstats import tracing
from hmstats.client.connection.address import Address
from hmstats.client.connection.credentials import Credentials
from hmstats.errors import CallRefused

_TYPE = "application/x-thrift"
_MOST_REASON_BYTES = 1_000


class HttpTransport:
    """A transport of Thrift: `flush` sends what was written as a request, and `read` reads the response.

    Raises CallRefused if the server answers with another status than 200.
    """

    def __init__(self, address: Address, credentials: Credentials, connect_seconds: float) -> None:
        self._path = address.path or ""
        self._headers = {"Content-Type": _TYPE, "Accept": _TYPE}
        if credentials.authorization is not None:
            self._headers["Authorization"] = credentials.authorization
        self._http = (
            http.client.HTTPSConnection(
                address.host, address.port, timeout=connect_seconds, context=credentials.context()
            )
            if address.tls
            else http.client.HTTPConnection(address.host, address.port, timeout=connect_seconds)
        )
        self._http.response_class = _TimedResponse
        self._out = bytearray()
        self._response: http.client.HTTPResponse | None = None

    def open(self) -> None:
        """Connect, with the handshake of TLS. Raises OSError."""
        self._http.connect()

    def is_open(self) -> bool:
        """Whether it is connected."""
        return self._http.sock is not None

    def settimeout(self, seconds: float) -> None:
        """Limit each step of the next calls."""
        self._http.timeout = seconds
        if self._http.sock is not None:
            self._http.sock.settimeout(seconds)

    def write(self, data: bytes) -> None:
        """Add to the request."""
        self._out += data

    def flush(self) -> None:
        """Send the request, and read the head of the response."""
        body, self._out = bytes(self._out), bytearray()
        try:
            if self._response is not None and self._response.read(1):
                raise TTransportException(message="there are bytes behind the answer before")
            self._http.request("POST", self._path, body, {**self._headers, **tracing.headers()})
            self._response = self._http.getresponse()
            if self._response.status != HTTPStatus.OK:
                reason = self._response.read(_MOST_REASON_BYTES).decode(errors="replace").strip()
                raise CallRefused("HTTP", f"status {self._response.status}", reason)
        except http.client.HTTPException as error:
            raise TTransportException(message=f"no HTTP: {type(error).__name__}") from error

    def read(self, size: int) -> bytes:
        """Up to `size` bytes of the response; empty at its end."""
        return b"" if self._response is None else self._response.read1(size)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


class _TimedResponse(http.client.HTTPResponse):
    """A response whose head must come within the socket's timeout, however often a byte of it comes."""

    def __init__(self, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self._arriving = _Arriving(self.fp, sock.gettimeout())
        self.fp = io.BufferedReader(self._arriving)

    def begin(self) -> None:
        """Read the head."""
        super().begin()
        self._arriving.until = math.inf


class _Arriving(io.RawIOBase):
    """The bytes of a socket's file as they arrive, until a time."""

    def __init__(self, file: Any, limit_seconds: float | None) -> None:
        self._file = file
        self.until = math.inf if limit_seconds is None else time.monotonic() + limit_seconds

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has arrived, at least a byte. Raises TimeoutError after the time."""
        data = self._file.read1(len(buffer))
        buffer[: len(data)] = data
        if time.monotonic() > self.until:
            raise TimeoutError
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

"""Messages in the frames of SASL, behind a proof of the user by a Kerberos ticket (GSSAPI, RFC 4752).

The ticket is that of the ticket cache (`kinit`), or of the keytab that Kerberos' variable KRB5_CLIENT_KTNAME names. The
package gssapi is in the extra `kerberos`.
"""

import socket
from typing import Any

from hmstats.errors import CallRefused, SettingsError
from hmstats.extras import install_advice
from hmstats.wire.sasl_messages import FRAME_HEAD_BYTES, MESSAGE_HEAD_BYTES, Message, Status, frame_bytes, framed, head

_MECHANISM = b"GSSAPI"
_AUTHENTICATION, _INTEGRITY, _PRIVACY = 1, 2, 4
"""Protections of the frames, in RFC 4752's bits."""
_MOST_WRAPPED_BYTES = 0xFFFFFF
"""The largest protected frame that is taken; three bytes have no more."""
_MOST_PIECE_BYTES = 1024 * 1024


class KerberosTransport:
    """A transport of Thrift over a connected socket: `flush` sends what was written, and `read` reads replies.

    Frames get the strongest protection that the server offers: encryption if it offers that. Over TLS, which protects
    them already, they get none.
    """

    def __init__(self, connected: socket.socket, principal: str, *, over_tls: bool) -> None:
        """`principal` is the metastore's.

        Raises SettingsError if there is no ticket or no gssapi, CallRefused if the metastore refuses it,
        OSError, EOFError.
        """
        self._socket = connected
        self._out = bytearray()
        self._in = memoryview(b"")
        self._context = _Ticket(principal)
        self._protection = _AUTHENTICATION
        self._piece_bytes = _MOST_PIECE_BYTES
        self._negotiate(over_tls=over_tls)

    def is_open(self) -> bool:
        """Whether it was not closed."""
        return self._socket.fileno() >= 0

    def write(self, data: bytes) -> None:
        """Add to the message."""
        self._out += data

    def flush(self) -> None:
        """Send the message, in frames."""
        whole, self._out = memoryview(bytes(self._out)), bytearray()
        for start in range(0, len(whole), self._piece_bytes):
            piece = bytes(whole[start : start + self._piece_bytes])
            self._socket.sendall(framed(self._wrapped(piece)))

    def read(self, size: int) -> bytes:
        """From 1 to `size` bytes of replies. Raises EOFError at the end of the connection."""
        while not self._in:
            length = frame_bytes(self._received(FRAME_HEAD_BYTES))
            self._in = memoryview(self._unwrapped(self._received(length)))
        data, self._in = bytes(self._in[:size]), self._in[size:]
        return data

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _negotiate(self, *, over_tls: bool) -> None:
        self._say(Status.START, _MECHANISM)
        token = self._context.step(None)
        while not self._context.complete:
            token = self._context.step(self._answer(token))
        offer = self._context.unwrap(self._answer(token))
        offered, server_bytes = offer[0], int.from_bytes(offer[1:4], "big")
        self._protection = _chosen(offered, over_tls=over_tls)
        if self._protection != _AUTHENTICATION:
            self._piece_bytes = self._context.piece_bytes(
                min(server_bytes, _MOST_PIECE_BYTES), private=self._is_private
            )
        most = 0 if self._protection == _AUTHENTICATION else _MOST_WRAPPED_BYTES
        choice = bytes((self._protection,)) + most.to_bytes(3, "big")
        self._say(Status.OK, self._context.wrap(choice, private=False))
        if (message := self._hear()).status != Status.COMPLETE:
            raise CallRefused("SASL", "no end of the negotiation", str(message.status))

    @property
    def _is_private(self) -> bool:
        return self._protection == _PRIVACY

    def _wrapped(self, data: bytes) -> bytes:
        return data if self._protection == _AUTHENTICATION else self._context.wrap(data, private=self._is_private)

    def _unwrapped(self, data: bytes) -> bytes:
        return data if self._protection == _AUTHENTICATION else self._context.unwrap(data, private=self._is_private)

    def _say(self, status: Status, payload: bytes) -> None:
        self._socket.sendall(Message(status, payload).encoded)

    def _answer(self, token: bytes | None) -> bytes:
        """The server's answer to a step of the negotiation."""
        self._say(Status.OK, token or b"")
        return self._hear().payload

    def _hear(self) -> Message:
        status, length = head(self._received(MESSAGE_HEAD_BYTES))
        message = Message(status, self._received(length))
        if message.status not in (Status.OK, Status.COMPLETE):
            raise CallRefused("SASL", "refused", message.payload.decode(errors="replace"))
        return message

    def _received(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise EOFError("the metastore has closed the connection; does it speak SASL?")
            data += piece
        return bytes(data)


class _Ticket:
    """The user's side of GSSAPI."""

    def __init__(self, principal: str) -> None:
        try:
            import gssapi  # noqa: PLC0415 - in an extra
        except ImportError as error:
            raise SettingsError(f"Kerberos needs the extra kerberos: {install_advice('kerberos')}") from error
        flags = gssapi.RequirementFlag
        self._error: type[Exception] = gssapi.exceptions.GSSError
        self._principal = principal
        self._context: Any = gssapi.SecurityContext(
            name=gssapi.Name(principal, gssapi.NameType.kerberos_principal),
            mech=gssapi.MechType.kerberos,
            flags=[flags.mutual_authentication, flags.integrity, flags.confidentiality],
            usage="initiate",
        )
        self._context.__DEFER_STEP_ERRORS__ = False

    @property
    def complete(self) -> bool:
        """Whether both sides are proven."""
        return bool(self._context.complete)

    def step(self, token: bytes | None) -> bytes | None:
        """The next token for the server. Raises SettingsError if Kerberos refuses a ticket, or the proof."""
        try:
            found: bytes | None = self._context.step(token)
        except self._error as error:
            raise SettingsError(f"no Kerberos ticket for {self._principal}: {_reason(error)}; run kinit") from error
        return found

    def piece_bytes(self, wrapped_bytes: int, *, private: bool) -> int:
        """The most bytes whose protected form has at most `wrapped_bytes`."""
        return int(self._context.get_wrap_size_limit(wrapped_bytes, private))

    def wrap(self, data: bytes, *, private: bool) -> bytes:
        """The protected form."""
        wrapped: bytes = self._context.wrap(data, private).message
        return wrapped

    def unwrap(self, data: bytes, *, private: bool = False) -> bytes:
        """The data of a protected form. Raises ConnectionError if it was changed, or should have been encrypted."""
        try:
            found = self._context.unwrap(data)
        except self._error as error:
            raise ConnectionError(f"Kerberos: {_reason(error)}") from error
        if private and not found.encrypted:
            raise ConnectionError("the metastore has not encrypted a reply, as was agreed")
        message: bytes = found.message
        return message


def _chosen(offered: int, *, over_tls: bool) -> int:
    """The strongest protection offered; the weakest over TLS."""
    ordered = (_AUTHENTICATION, _INTEGRITY, _PRIVACY) if over_tls else (_PRIVACY, _INTEGRITY, _AUTHENTICATION)
    for protection in ordered:
        if offered & protection:
            return protection
    raise CallRefused("SASL", "no protection", f"the metastore must offer 1, 2 or 4, found {offered}")


def _reason(error: Any) -> str:
    """What the mechanism says, else what GSSAPI says."""
    said = error.get_all_statuses(error.min_code, False) if error.min_code else []
    return "; ".join(said or error.get_all_statuses(error.maj_code, True))

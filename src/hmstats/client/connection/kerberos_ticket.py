"""A proof of the user by a Kerberos ticket (GSSAPI, RFC 4752).

The ticket is that of the ticket cache (`kinit`), or of the keytab that Kerberos' variable KRB5_CLIENT_KTNAME names. The
package gssapi is in the extra `kerberos`.
"""

import re
from typing import Any

from hmstats.client.connection.sasl_transport import MOST_PIECE_BYTES, Dialogue, Seal
from hmstats.errors import CallRefused, SettingsError
from hmstats.extras import install_advice
from hmstats.wire.sasl_messages import Status

_AUTHENTICATION, _INTEGRITY, _PRIVACY = 1, 2, 4
"""Protections of the frames, in RFC 4752's bits."""
_MOST_WRAPPED_BYTES = 0xFFFFFF
"""The largest protected frame that is taken; three bytes have no more."""


class KerberosTicket:
    """Proves the user by its ticket.

    Frames get the strongest protection that the server offers: encryption if it offers that.
    """

    name = b"GSSAPI"

    def __init__(self, principal: str) -> None:
        """`principal` is the metastore's. Raises SettingsError if there is no gssapi."""
        self._context = _Context(principal)

    def prove(self, dialogue: Dialogue, *, over_tls: bool) -> Seal | None:
        """Prove the user, as in Mechanism. Raises SettingsError if there is no ticket."""
        context = self._context
        token = context.step(None)
        while not context.complete:
            token = context.step(dialogue.answer(token or b""))
        offer = context.unwrap(dialogue.answer(token or b""))
        offered, server_bytes = offer[0], int.from_bytes(offer[1:4], "big")
        protection = _choose_protection(offered, over_tls=over_tls)
        seal = None if protection == _AUTHENTICATION else _TicketSeal(context, server_bytes, protection == _PRIVACY)
        most = 0 if seal is None else _MOST_WRAPPED_BYTES
        choice = bytes((protection,)) + most.to_bytes(3, "big")
        dialogue.answer(context.wrap(choice, private=False), Status.COMPLETE)
        return seal


def ticket_user() -> str:
    """The user of the ticket or the keytab, by the first part of its principal. Raises SettingsError."""
    gssapi = _gssapi()
    try:
        name = str(gssapi.Credentials(usage="initiate").name)
    except gssapi.exceptions.GSSError as error:
        raise SettingsError(f"no Kerberos ticket: {_reason(error)}; run kinit") from error
    return re.split("[/@]", name)[0]


class _TicketSeal:
    """Signs frames with the ticket's key, and encrypts them if they are `private`."""

    def __init__(self, context: "_Context", server_bytes: int, private: bool) -> None:  # noqa: FBT001
        self.piece_bytes = context.piece_bytes(min(server_bytes, MOST_PIECE_BYTES), private=private)
        self._context = context
        self._private = private

    def wrap(self, data: bytes) -> bytes:
        """The protected form of a piece."""
        return self._context.wrap(data, private=self._private)

    def unwrap(self, data: bytes) -> bytes:
        """The data in a protected form. Raises ConnectionError as _Context.unwrap."""
        return self._context.unwrap(data, private=self._private)


class _Context:
    """The user's side of GSSAPI."""

    def __init__(self, principal: str) -> None:
        gssapi = _gssapi()
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


def _gssapi() -> Any:
    try:
        import gssapi  # noqa: PLC0415 - in an extra
    except ImportError as error:
        raise SettingsError(f"Kerberos needs the extra kerberos: {install_advice('kerberos')}") from error
    return gssapi


def _choose_protection(offered: int, *, over_tls: bool) -> int:
    """The strongest protection offered; the weakest over TLS."""
    ordered = (_AUTHENTICATION, _INTEGRITY, _PRIVACY) if over_tls else (_PRIVACY, _INTEGRITY, _AUTHENTICATION)
    for protection in ordered:
        if offered & protection:
            return protection
    raise CallRefused("SASL", "no protection", f"the metastore must offer 1, 2 or 4, found {offered}")


def _reason(error: Any) -> str:
    """The message of the mechanism, else that of GSSAPI."""
    statuses = error.get_all_statuses(error.min_code, False) if error.min_code else []
    return "; ".join(statuses or error.get_all_statuses(error.maj_code, True))

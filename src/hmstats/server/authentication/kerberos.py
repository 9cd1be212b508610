"""The mechanism GSSAPI of SASL with Kerberos (RFC 4752), by the package gssapi, which other servers never import.

A negotiation proves the client's ticket, then both agree on the protection: the server offers, the client chooses.
"""

from dataclasses import dataclass

import gssapi
import structlog
from gssapi.exceptions import GSSError

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.kerberos_names import KerberosRules
from hmstats.model.access.principal import Principal, is_user_name
from hmstats.model.access.proxy_users import NOBODY, ProxyUsers, denial
from hmstats.server.authentication.delegation import host_of
from hmstats.server.authentication.sasl import Protection, SaslMechanism, Seal

KERBEROS = "kerberos"
_WRAPPED_BYTES = 0xFFFFFF
"""The largest protected message that we take, as clients are told; three bytes have no more."""
_LEAST_WRAPPED_BYTES = 1_024

_log = structlog.get_logger("hmstats.server")


class Service:
    """The server's key. Libraries read the keytab at each proof, so that a new key in it is taken without a restart."""

    def __init__(self, keytab: str, principal: str) -> None:
        """Raises SettingsError if the keytab has no key of the principal."""
        try:
            name = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
            mechanisms = [gssapi.MechType.kerberos]
            store = {"keytab": keytab}
            self.credentials = gssapi.Credentials(name=name, usage="accept", mechs=mechanisms, store=store)
        except GSSError as error:
            reason = f"kerberos_keytab {keytab} has no usable key of {principal}: {_reason(error)}"
            raise SettingsError(reason) from error


@dataclass(frozen=True, slots=True)
class _Terms:
    """The requirements of a server for its clients. `offered` are bits of Protection."""

    credentials: gssapi.Credentials
    rules: KerberosRules
    proxies: ProxyUsers
    offered: int


class GssSeal:
    """Protects data by the keys of a ticket."""

    def __init__(self, context: gssapi.SecurityContext, protection: Protection, client_bytes: int) -> None:
        """`client_bytes` is the largest protected message that the client takes."""
        self._context = context
        self._private = protection is Protection.PRIVACY
        self._piece_bytes: int = context.get_wrap_size_limit(client_bytes, self._private)

    @property
    def piece_bytes(self) -> int:
        """The most bytes whose protected form the client takes."""
        return self._piece_bytes

    def wrap(self, data: bytes) -> bytes:
        """The protected form of data. Raises ConnectionError."""
        try:
            wrapped = self._context.wrap(data, self._private)
        except GSSError as error:
            raise ConnectionError(f"Kerberos: {_reason(error)}") from error
        if self._private and not wrapped.encrypted:
            raise ConnectionError("Kerberos has not encrypted a reply, as was agreed")
        message: bytes = wrapped.message
        return message

    def unwrap(self, data: bytes) -> bytes:
        """The data of a protected form. Raises ConnectionError if it was changed, or should have been encrypted."""
        try:
            unwrapped = self._context.unwrap(data)
        except GSSError as error:
            raise ConnectionError(f"Kerberos: {_reason(error)}") from error
        if self._private and not unwrapped.encrypted:
            raise ConnectionError("the client has not encrypted a request, as was agreed")
        message: bytes = unwrapped.message
        return message


class GssConversation:
    """One client's ticket, then its choice of protection."""

    success = b""
    ended = False

    def __init__(self, terms: _Terms, peer: str) -> None:
        self._terms = terms
        self._peer = peer
        self._context = gssapi.SecurityContext(creds=terms.credentials, usage="accept")
        self._context.__DEFER_STEP_ERRORS__ = False  # a failed step is refused at once, not answered with its error
        self._offered = 0
        """The bits that the client was offered; 0 before."""
        self._principal: Principal | None = None
        self.seal: Seal | None = None

    @property
    def principal(self) -> Principal:
        """The user of the ticket."""
        assert self._principal is not None
        return self._principal

    def step(self, response: bytes) -> bytes | None:
        """Take a part of the ticket's proof, an empty response, or the choice. Raises NotAuthenticated."""
        try:
            if not self._context.complete:
                challenge: bytes | None = self._context.step(response)
                return challenge or self._offer()
            if not self._offered:
                return self._offer()
            self._choose(self._context.unwrap(response).message)
        except GSSError as error:
            reason = _reason(error)
            _log.info("kerberos_failed", peer=self._peer, reason=reason)
            raise NotAuthenticated(f"GSS initiate failed: {reason}") from error
        return None

    def _offer(self) -> bytes:
        """The offered protections, and the largest protected message that we take (RFC 4752, section 3.1)."""
        if not self._context.complete or self._context.mech != gssapi.MechType.kerberos:
            raise NotAuthenticated("GSSAPI must prove a user by Kerberos, found another mechanism")
        flags = self._context.actual_flags
        can = int(Protection.AUTHENTICATION)
        can |= Protection.INTEGRITY if gssapi.RequirementFlag.integrity in flags else 0
        can |= Protection.PRIVACY if gssapi.RequirementFlag.confidentiality in flags else 0
        self._offered = self._terms.offered & can
        if not self._offered:
            raise NotAuthenticated("the client's ticket allows less than the server's setting protection wants")
        most = _WRAPPED_BYTES if self._offered > Protection.AUTHENTICATION else 0
        offer: bytes = self._context.wrap(bytes((self._offered,)) + most.to_bytes(3, "big"), False).message
        return offer

    def _choose(self, choice: bytes) -> None:
        name = str(self._context.initiator_name)
        if len(choice) < 4 or choice[0] not in tuple(Protection) or not choice[0] & self._offered:
            raise NotAuthenticated(
                f"the client must choose one protection of {self._offered}, found {choice[:1].hex()}"
            )
        principal = self._acting(self._terms.rules.user(name), choice[4:])
        protection, client_bytes = Protection(choice[0]), int.from_bytes(choice[1:4], "big")
        if protection is not Protection.AUTHENTICATION:
            if client_bytes < _LEAST_WRAPPED_BYTES:
                raise NotAuthenticated(f"a client must take {_LEAST_WRAPPED_BYTES} bytes at once, found {client_bytes}")
            self.seal = GssSeal(self._context, protection, client_bytes)
        self._principal = principal

    def _acting(self, user: str, acts_as: bytes) -> Principal:
        """The user, or the one as whom it wants to act, by its name or principal. Raises NotAuthenticated."""
        try:
            other = self._terms.rules.user_of(acts_as.decode()) if acts_as else user
        except UnicodeDecodeError:
            raise NotAuthenticated("the user to act as must be UTF-8, found other bytes") from None
        if other == user:
            return Principal(user, (), KERBEROS)
        host = host_of(self._peer)
        if not is_user_name(other) or not self._terms.proxies.allow(user, other, host):
            raise NotAuthenticated(denial(user, other, host))
        return Principal(other, (), KERBEROS, via=user)


def by_kerberos(
    service: Service, rules: KerberosRules, least: Protection, proxies: ProxyUsers = NOBODY
) -> SaslMechanism:
    """GSSAPI with the key of a service. Over TLS nothing is protected a second time."""
    plain = _Terms(service.credentials, rules, proxies, sum(each for each in Protection if each >= least))
    over_tls = _Terms(service.credentials, rules, proxies, Protection.AUTHENTICATION)
    return SaslMechanism("GSSAPI", lambda peer, secure: GssConversation(over_tls if secure else plain, peer))


def _reason(error: GSSError) -> str:
    """The message of the mechanism, else that of GSSAPI."""
    said = error.get_all_statuses(error.min_code, False) if error.min_code else []
    return "; ".join(said or error.get_all_statuses(error.maj_code, True))

"""The mechanisms by which a server lets clients prove who they are, and over which connections."""

from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.certificate_users import Certificate, Rule, certificate_user
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.delegation import Delegation
from hmstats.server.authentication.sasl import Protection, SaslMechanism

CERTIFICATE = "certificate"


class Proven(NamedTuple):
    """A user, and how many seconds the proof may be believed without another look."""

    principal: Principal
    seconds: float


Prover = Callable[[Credential, str], Proven]
"""Proves the credential of a client at an address. May block or compute for long. Raises NotAuthenticated."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One way to prove a user by a secret in a request."""

    name: str
    """A value of the setting `authentication`."""
    scheme: str
    """The scheme that an answer 401 asks for (RFC 9110, section 11.6.1)."""
    fits: Callable[[Credential], bool]
    """Whether a credential is of this mechanism, told by its form."""
    prove: Prover
    over_loopback: bool = True
    """Whether a client on the server's own machine may use it without TLS."""
    slow: bool = False
    """Whether a check computes for long, so that others should not wait behind it."""


@dataclass(frozen=True, slots=True)
class Authentication:
    """The accepted proofs. `names` are the values of the setting, of which `mechanisms` are those with secrets.

    `certificate_rule` is None if certificates prove nothing. Secrets are taken over TLS, and where the mechanism allows
    it from the server's own machine; if `unencrypted`, from everywhere.
    """

    names: tuple[str, ...]
    certificate_rule: Rule | None = None
    mechanisms: tuple[Mechanism, ...] = ()
    unencrypted: bool = False
    refreshes: tuple[Callable[[], None], ...] = ()
    """Functions that look for changed files and keys; one thread calls them every few seconds."""
    sasl: tuple[SaslMechanism, ...] = ()
    protection: Protection = Protection.AUTHENTICATION
    """The least protection of requests; TLS gives all of it."""
    delegation: Delegation | None = None
    """The delegation tokens that the server gives; None if Kerberos proves nobody."""

    @property
    def missing_proof(self) -> str:
        """The sentence for a client that has proven nothing."""
        how = ", ".join(self.names)
        return f"this server serves authenticated clients only: its setting authentication is {how}"

    def refresh(self) -> None:
        """Look for changed files and keys."""
        for each in self.refreshes:
            each()

    def refusal(self, reason: str) -> NotAuthenticated:
        """The error for a client, with what it is asked for."""
        return NotAuthenticated(reason, tuple(dict.fromkeys(each.scheme for each in self.mechanisms)))

    def by_certificate(self, certificate: Certificate | None) -> Principal | None:
        """The user of a verified certificate; None if there is none, or if certificates prove nothing.

        Raises NotAuthenticated if the certificate names no user.
        """
        if certificate is None or self.certificate_rule is None:
            return None
        return Principal(certificate_user(certificate, self.certificate_rule), (), CERTIFICATE)

    def mechanism(self, credential: Credential, peer: str, *, secure: bool) -> Mechanism:
        """The mechanism of a credential. Raises NotAuthenticated if there is none, or if the secret came readable."""
        mechanism = next((each for each in self.mechanisms if each.fits(credential)), None)
        if mechanism is None:
            raise self.refusal(f"{self.missing_proof}; found a secret of another kind")
        if not (secure or self.unencrypted or (mechanism.over_loopback and _is_loopback(peer))):
            raise self.refusal(
                f"a {mechanism.name} is taken over TLS only; this one has crossed the network readable, so replace it"
            )
        if not secure and self.protection is not Protection.AUTHENTICATION:
            raise self.refusal(f"HTTP is taken over TLS only: the setting protection is {self.protection.name.lower()}")
        return mechanism

    def sasl_mechanism(self, name: str, *, secure: bool) -> SaslMechanism:
        """The mechanism of SASL with this name. Raises NotAuthenticated if there is none, or if it needs TLS."""
        mechanism = next((each for each in self.sasl if each.name == name), None)
        if mechanism is None:
            offered = ", ".join(each.name for each in self.sasl) or "no SASL"
            raise self.refusal(f"{self.missing_proof}; it offers {offered}, found the SASL mechanism {name}")
        if mechanism.over_tls_only and not secure:
            raise self.refusal(f"the SASL mechanism {name} is taken over TLS only, found none")
        return mechanism


def _is_loopback(peer: str) -> bool:
    """Whether a client's address (HOST:PORT) is one of the server's own machine."""
    try:
        return ip_address(peer.rpartition(":")[0].strip("[]")).is_loopback
    except ValueError:
        return False

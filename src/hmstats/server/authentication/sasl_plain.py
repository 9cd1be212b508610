"""The mechanism PLAIN of SASL (RFC 4616): a user and its password, over TLS only."""

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Mechanism
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.sasl import SaslMechanism

_FORM = "PLAIN must have a user and a password, each behind a NUL, found another form"


class PlainConversation:
    """A single response: `authorization NUL user NUL password`."""

    seal = None
    success = b""
    ended = False

    def __init__(self, passwords: Mechanism, peer: str) -> None:
        self._passwords = passwords
        self._peer = peer
        self._principal: Principal | None = None

    @property
    def principal(self) -> Principal:
        """The user of the password."""
        assert self._principal is not None
        return self._principal

    def step(self, response: bytes) -> None:
        """Check the password. Raises NotAuthenticated, without a word of the response."""
        try:
            acts_as, user, password = response.decode().split("\0")
        except ValueError:
            raise NotAuthenticated(_FORM) from None
        if not user or not password:
            raise NotAuthenticated(_FORM)
        if acts_as not in ("", user):
            raise NotAuthenticated("PLAIN must name no other user to act as than the one of the password")
        self._principal = self._passwords.prove(Credential(password, user), self._peer).principal


def sasl_plain(passwords: Mechanism) -> SaslMechanism:
    """PLAIN with the passwords of a mechanism, whose limits on guessing hold."""
    return SaslMechanism("PLAIN", lambda peer, _: PlainConversation(passwords, peer), over_tls_only=True, slow=True)

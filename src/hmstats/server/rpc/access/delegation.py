"""Calls about delegation tokens, by which a user that Kerberos has proven lets others act for it."""

from hmstats.errors import AccessDenied, InvalidInput, MetaError, NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.model.access.proxy_users import denial
from hmstats.server.authentication.delegation import Delegation, host_of
from hmstats.server.rpc.caller import Session
from hmstats.wire.delegation_tokens import identifier_of, read_token, token_of, token_text

_KERBEROS = "kerberos"


class DelegationCalls:
    """Tokens of this server; without a `delegation` it gives none, since a token stands for a proof by Kerberos."""

    def __init__(self, delegation: Delegation | None) -> None:
        self._delegation = delegation

    def get_delegation_token(
        self, session: Session, token_owner: str | None, renewer_kerberos_principal_name: str | None
    ) -> str:
        """A new token of an owner, who is the caller or one as whom it may act; a token buys no token."""
        delegation = self._issuing()
        asker = _proven_by_kerberos(session, "get")
        owner = _user(delegation, token_owner)
        renewer = _user(delegation, renewer_kerberos_principal_name) if renewer_kerberos_principal_name else ""
        real_user, host = asker.via or asker.user, host_of(session.peer)
        if owner not in (asker.user, real_user) and not delegation.proxies.allow(real_user, owner, host):
            raise AccessDenied(denial(real_user, owner, host))
        issued = delegation.tokens.issue(owner, renewer, "" if real_user == owner else real_user)
        return token_text(identifier_of(issued.token), issued.secret)

    def renew_delegation_token(self, session: Session, token_str_form: str | None) -> int:
        """Let a token live on, for its renewer; when it expires, epoch milliseconds."""
        tokens = self._issuing().tokens
        user = _proven_by_kerberos(session, "renew").user
        identifier, secret = read_token(token_str_form or "")
        return tokens.renew(token_of(identifier), secret, user)

    def cancel_delegation_token(self, session: Session, token_str_form: str | None) -> None:
        """End a token, for its owner or renewer."""
        tokens = self._issuing().tokens
        identifier, secret = read_token(token_str_form or "")
        tokens.cancel(token_of(identifier), secret, _require_proven(session).user)

    def _issuing(self) -> Delegation:
        if self._delegation is None:
            raise MetaError("delegation tokens are not supported: this metastore issues none")
        return self._delegation


def _require_proven(session: Session) -> Principal:
    if session.principal is None:
        raise AccessDenied("a delegation token is for proven users, found a client that has proven nothing")
    return session.principal


def _proven_by_kerberos(session: Session, what: str) -> Principal:
    principal = _require_proven(session)
    if principal.mechanism != _KERBEROS:
        raise AccessDenied(
            f"{principal.user} may not {what} a delegation token: "
            f"its user must be proven by {_KERBEROS}, found {principal.mechanism}"
        )
    return principal


def _user(delegation: Delegation, name: str | None) -> str:
    """The user of a principal, or of its own name."""
    if not name:
        raise InvalidInput("a delegation token must have an owner, found none")
    try:
        return delegation.rules.user_of(name)
    except NotAuthenticated as error:
        raise InvalidInput(str(error)) from error

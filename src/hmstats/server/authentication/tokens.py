"""Tokens of hmstats' own as proofs: `Authorization: Bearer`, or as the password of `Authorization: Basic`."""

from hmstats.errors import NotAuthenticated
from hmstats.model.access.api_token import is_secret
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.service.access.api_tokens import ApiTokens

TOKEN = "token"
BELIEVED_SECONDS = 10.0
"""How long a worker believes a token: a revoked one is refused by every worker of every server after this time."""
_WRONG = "the token is unknown, revoked or expired"


def by_token(tokens: ApiTokens) -> Mechanism:
    """The mechanism that looks tokens up in the database."""

    def prove(credential: Credential, _peer: str) -> Proven:
        valid = tokens.find(credential.secret)
        if valid is None or credential.user not in (None, "", valid.token.user):
            raise NotAuthenticated(_WRONG)
        seconds = (
            BELIEVED_SECONDS if valid.remaining_seconds is None else min(BELIEVED_SECONDS, valid.remaining_seconds)
        )
        return Proven(Principal(valid.token.user, valid.token.groups, TOKEN), seconds)

    return Mechanism(TOKEN, "Bearer", lambda credential: is_secret(credential.secret), prove)

"""JSON Web Tokens as proofs, as an identity provider signs them (RFC 7519): `Authorization: Bearer`."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal, is_user_name
from hmstats.server.authentication.authentication import Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.json_web_keys import JsonWebKeys

JWT = "jwt"
_BELIEVED_SECONDS = 10.0
_LEEWAY_SECONDS = 30.0
"""How far the clocks of an identity provider and a server may be apart."""
_MOST_GROUPS = 1_000


@dataclass(frozen=True, slots=True)
class ExpectedClaims:
    """The claims that a token must have besides its expiry, and the claims that name the user and the groups."""

    issuer: str | None = None
    audience: str | None = None
    user_claim: str = "sub"
    groups_claim: str = "groups"


def by_jwt(keys: JsonWebKeys, expected: ExpectedClaims) -> Mechanism:
    """The mechanism that checks the signatures, times and claims of tokens."""

    def prove(credential: Credential, _peer: str) -> Proven:
        payload = _check_token(credential.secret, keys, expected)
        user, groups = payload.get(expected.user_claim), payload.get(expected.groups_claim, [])
        if not isinstance(user, str) or not is_user_name(user):
            raise NotAuthenticated(f"the token's claim {expected.user_claim} must be a user's name")
        if not _are_names(groups):
            raise NotAuthenticated(f"the token's claim {expected.groups_claim} must be a list of names")
        left_seconds = float(payload["exp"]) - time.time()
        return Proven(Principal(user, tuple(groups), JWT), min(_BELIEVED_SECONDS, left_seconds))

    return Mechanism(
        JWT, "Bearer", lambda credential: credential.user is None and credential.secret.count(".") == 2, prove
    )


def _check_token(token: str, keys: JsonWebKeys, expected: ExpectedClaims) -> Mapping[str, Any]:
    """The claims of a token. Raises NotAuthenticated without a word of the token."""
    try:
        header = jwt.get_unverified_header(token)
        key = keys.find(header.get("kid"))
        if key is None:
            raise NotAuthenticated("the token is signed by an unknown key; if the key is new, try again in a minute")
        if header.get("alg") not in key.algorithms:
            raise NotAuthenticated("the token is signed by another algorithm than its key's")
        required = {"exp": True, "iss": expected.issuer is not None, "aud": expected.audience is not None}
        return jwt.decode(
            token,
            key.key,
            algorithms=sorted(key.algorithms),
            issuer=expected.issuer,
            audience=expected.audience,
            leeway=_LEEWAY_SECONDS,
            options={
                "require": [name for name, needed in required.items() if needed],
                "verify_aud": required["aud"],
                "verify_iss": required["iss"],
            },
        )
    except jwt.PyJWTError as error:
        raise NotAuthenticated(f"the token is not valid: {_reason(error)}") from error


def _reason(error: jwt.PyJWTError) -> str:
    """The error in our own words: the library's may quote the token."""
    return next((said for kind, said in _REASONS if isinstance(error, kind)), "its form or a claim is wrong")


_REASONS: tuple[tuple[type[jwt.PyJWTError], str], ...] = (
    (jwt.ExpiredSignatureError, "it has expired"),
    (jwt.ImmatureSignatureError, "it is not valid yet"),
    (jwt.InvalidIssuerError, "it is of another issuer"),
    (jwt.InvalidAudienceError, "it is for another audience"),
    (jwt.MissingRequiredClaimError, "it lacks one of the claims exp, iss and aud that are required"),
    (jwt.InvalidSignatureError, "its signature is wrong"),
)


def _are_names(groups: object) -> bool:
    if not isinstance(groups, list) or len(groups) > _MOST_GROUPS:
        return False
    return all(isinstance(each, str) and is_user_name(each) for each in groups)

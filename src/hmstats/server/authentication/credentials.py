"""The credentials in a request: the header Authorization of HTTP (RFC 6750, RFC 7617)."""

import base64
import binascii
from dataclasses import dataclass, field

from hmstats.errors import NotAuthenticated

_UNREADABLE = "the header Authorization must be `Bearer TOKEN` or `Basic` with base64 of USER:PASSWORD, found another"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret, and the user that it is claimed to prove; None where the secret itself names its user."""

    secret: str = field(repr=False)
    user: str | None = None


def credential_of(header: bytes) -> Credential:
    """The credential in a header Authorization. Raises NotAuthenticated, without a word of the header."""
    scheme, _, value = header.partition(b" ")
    try:
        if scheme.lower() == b"bearer":
            return Credential(_some(value.strip().decode("ascii")))
        if scheme.lower() == b"basic":
            user, colon, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
            if colon:
                return Credential(_some(secret), user)
    except (binascii.Error, UnicodeDecodeError):
        pass
    raise NotAuthenticated(_UNREADABLE)


def _some(secret: str) -> str:
    if not secret:
        raise NotAuthenticated("the header Authorization has an empty secret")
    return secret

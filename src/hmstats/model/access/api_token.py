"""Tokens by which clients prove who they are: their form, and what is stored of them.

A secret is `hmst_` and 32 random bytes in URL-safe base64. Its SHA-256 is stored: a random secret of 256 bits cannot be
found by trying, so no slow hash is needed.
"""

import hashlib
import secrets
from dataclasses import dataclass

PREFIX = "hmst_"
_BYTES = 32
_MOST_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its secret. Times are epoch milliseconds; one without an end has no `expires_ms`."""

    name: str
    user: str
    groups: tuple[str, ...]
    created_ms: int
    expires_ms: int | None = None


def new_secret() -> str:
    """A new secret."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def is_secret(text: str) -> bool:
    """Whether a text has the form of a token's secret."""
    return text.startswith(PREFIX) and len(text) <= _MOST_CHARACTERS


def hash_of(secret: str) -> str:
    """The stored form of a secret, 64 hexadecimal digits."""
    return hashlib.sha256(secret.encode()).hexdigest()

"""Rules for tokens that stand for a proof by Kerberos: issued, renewed, cancelled, and looked up by their number.

Each token has a random secret of its own, which is stored (docs/adr/0019-delegation-tokens-have-their-own-secrets.md).
"""

import secrets
from collections.abc import Collection
from hmac import compare_digest
from typing import NamedTuple

import structlog

from hmstats.errors import AccessDenied, InvalidInput
from hmstats.model.access.delegation_token import DelegationToken
from hmstats.model.access.principal import is_user_name
from hmstats.store.access import delegation_tokens
from hmstats.store.access.delegation_tokens import StoredToken
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Connection, Unit

_SECRET_BYTES = 32
_MS = 1_000

_log = structlog.get_logger("hmstats.delegation_tokens")


class Issued(NamedTuple):
    """A new token and its secret."""

    token: DelegationToken
    secret: bytes


class DelegationTokens:
    """The tokens of one database. A token ends after `life_seconds`; unless it is renewed, after `renew_seconds`."""

    def __init__(self, store: Store, *, life_seconds: float, renew_seconds: float) -> None:
        self._store = store
        self._life_ms = round(life_seconds * _MS)
        self._renew_ms = round(renew_seconds * _MS)

    def issue(self, owner: str, renewer: str, real_user: str) -> Issued:
        """Make a token; `renewer` and `real_user` may be empty. Raises InvalidInput if a name cannot be one."""
        for name in (owner, *filter(None, (renewer, real_user))):
            if not is_user_name(name):
                raise InvalidInput(f"a user of a token must have 1 to 256 printable characters, found {name[:300]!r}")
        users = (owner, renewer, real_user)

        def insert(unit: Unit) -> Issued:
            secret = secrets.token_bytes(_SECRET_BYTES)
            token = delegation_tokens.insert_one(unit, secret.hex(), users, self._life_ms, self._renew_ms)
            return Issued(token, secret)

        return self._store.write(insert)

    def secret(self, token: DelegationToken) -> bytes | None:
        """The secret of a token; None if it is unknown, cancelled or expired."""
        with self._store.read() as connection:
            stored = _find_equal(connection, token)
        return None if stored is None else bytes.fromhex(stored.secret)

    def still_valid(self, tokens: Collection[DelegationToken]) -> set[DelegationToken]:
        """The tokens that are neither cancelled nor expired, of some whose secrets were found."""
        with self._store.read() as connection:
            numbers = delegation_tokens.valid_numbers(connection, [each.number for each in tokens])
        return {each for each in tokens if each.number in numbers}

    def renew(self, token: DelegationToken, secret: bytes, user: str) -> int:
        """Let a token live on. Returns when it expires, epoch ms.

        Raises AccessDenied if the user is not its renewer, InvalidInput if there is no such token.
        """

        def renew(unit: Unit) -> int:
            stored = _find_proven(unit, token, secret)
            if not token.renewer or user != token.renewer:
                raise AccessDenied(f"{user} may not renew the token of {token.owner}: only its renewer may")
            expires_ms = min(token.ends_ms, stored.now_ms + self._renew_ms)
            delegation_tokens.renew(unit, token.number, expires_ms)
            return expires_ms

        return self._store.write(renew)

    def cancel(self, token: DelegationToken, secret: bytes, user: str) -> None:
        """Delete a token.

        Raises AccessDenied if the user is neither its owner nor its renewer, InvalidInput if there is no such token.
        """

        def remove(unit: Unit) -> None:
            _find_proven(unit, token, secret)
            if user not in (token.owner, token.renewer):
                raise AccessDenied(f"{user} may not cancel the token of {token.owner}: only owner and renewer may")
            delegation_tokens.remove(unit, token.number)

        self._store.write(remove)

    def remove_expired(self) -> None:
        """Delete what has expired, so that the table does not grow."""
        removed = self._store.write(delegation_tokens.remove_expired)
        if removed:
            _log.info("delegation_tokens_removed", number=removed)


def _find_equal(connection: Connection, token: DelegationToken) -> StoredToken | None:
    stored = delegation_tokens.valid(connection, token.number)
    return stored if stored is not None and stored.token == token else None


def _find_proven(unit: Unit, token: DelegationToken, secret: bytes) -> StoredToken:
    stored = _find_equal(unit.connection, token)
    if stored is None or not compare_digest(bytes.fromhex(stored.secret), secret):
        raise InvalidInput("the delegation token is unknown, cancelled or expired")
    return stored

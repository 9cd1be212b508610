"""Rules for the tokens by which clients prove who they are: made, listed, revoked, and looked up by their secret."""

from functools import partial
from typing import NamedTuple

from hmstats.errors import InvalidInput, NoSuchObject
from hmstats.model.access.api_token import ApiToken, hash_of, new_secret
from hmstats.model.access.principal import is_user_name
from hmstats.store.access import api_tokens
from hmstats.store.database.store import Store

_MOST_NAME_CHARACTERS = 128


class ValidToken(NamedTuple):
    """A token that is valid now, and for how many more seconds; None if it does not expire."""

    token: ApiToken
    remaining_seconds: float | None


class ApiTokens:
    """The tokens of one database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, name: str, user: str, groups: tuple[str, ...] = (), valid_seconds: float | None = None) -> str:
        """Make a token and return its secret, which is not stored.

        Raises AlreadyExists if the name is taken, InvalidInput if a name cannot be one.
        """
        for text in (name, user, *groups):
            if not is_user_name(text):
                raise InvalidInput(f"a name must have 1 to 256 printable characters, found {text!r}")
        if len(name) > _MOST_NAME_CHARACTERS:
            raise InvalidInput(f"a token's name may have {_MOST_NAME_CHARACTERS} characters, found {len(name)}")
        secret, valid_ms = new_secret(), None if valid_seconds is None else round(valid_seconds * 1000)
        hashed = hash_of(secret)
        self._store.write(lambda unit: api_tokens.insert_one(unit, hashed, name, user, groups, valid_ms))
        return secret

    def revoke(self, name: str) -> None:
        """Delete a token. Raises NoSuchObject if there is none."""
        if not self._store.write(partial(api_tokens.remove, name=name)):
            raise NoSuchObject(f"there is no token {name}")

    def listed(self) -> list[ApiToken]:
        """All tokens by name, expired ones too."""
        with self._store.read() as connection:
            return api_tokens.all_tokens(connection)

    def find(self, secret: str) -> ValidToken | None:
        """The valid token with this secret, by the database's clock; None if it is unknown, revoked or expired."""
        with self._store.read() as connection:
            valid = api_tokens.valid(connection, hash_of(secret))
        if valid is None:
            return None
        token, now = valid
        return ValidToken(token, None if token.expires_ms is None else (token.expires_ms - now) / 1000)

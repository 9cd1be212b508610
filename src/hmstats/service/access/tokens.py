"""Delegation tokens and master keys, kept for servers that issue them; none is issued or believed here."""

from hmstats.errors import NoSuchObject
from hmstats.store import tokens
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


class Tokens:
    """The tokens and keys that other servers keep in this metastore."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, identifier: str) -> str | None:
        """The token of an identifier, or None."""
        with self._store.read() as connection:
            return tokens.get(connection, identifier)

    def identifiers(self) -> list[str]:
        """The identifiers of all tokens, sorted."""
        with self._store.read() as connection:
            return tokens.identifiers(connection)

    def add(self, identifier: str, token: str) -> bool:
        """Keep a token; False where the identifier has one already, which stays."""

        def insert(unit: Unit) -> bool:
            if tokens.get(unit.connection, identifier) is not None:
                return False
            tokens.insert_one(unit, identifier, token)
            return True

        return self._store.write(insert)

    def remove(self, identifier: str) -> bool:
        """Forget a token; False where there is none."""
        return self._store.write(lambda unit: tokens.remove(unit, identifier))

    def keys(self) -> list[str]:
        """All master keys, the oldest first."""
        with self._store.read() as connection:
            return tokens.keys(connection)

    def add_key(self, key: str) -> int:
        """Keep a master key; its number."""
        return self._store.write(lambda unit: tokens.insert_key(unit, key))

    def replace_key(self, number: int, key: str) -> None:
        """Replace a master key. Raises NoSuchObject."""

        def replace(unit: Unit) -> None:
            if not tokens.replace_key(unit, number, key):
                raise NoSuchObject(f"No key found with keyId: {number}")

        self._store.write(replace)

    def remove_key(self, number: int) -> bool:
        """Forget a master key; False where there is none of this number."""
        return self._store.write(lambda unit: tokens.remove_key(unit, number))

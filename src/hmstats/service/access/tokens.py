"""Delegation tokens and master keys, stored for servers that issue them; nothing here issues or checks one."""

from hmstats.errors import NoSuchObject
from hmstats.store.access import tokens
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit


class Tokens:
    """The tokens and keys that other servers store in this metastore."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, identifier: str) -> str | None:
        """The token of an identifier; None if it has none."""
        with self._store.read() as connection:
            return tokens.get(connection, identifier)

    def identifiers(self) -> list[str]:
        """The identifiers of all tokens, sorted."""
        with self._store.read() as connection:
            return tokens.identifiers(connection)

    def add(self, identifier: str, token: str) -> bool:
        """Store a token. Returns False, and changes nothing, if the identifier has one already."""

        def insert(unit: Unit) -> bool:
            if tokens.get(unit.connection, identifier) is not None:
                return False
            tokens.insert_one(unit, identifier, token)
            return True

        return self._store.write(insert)

    def remove(self, identifier: str) -> bool:
        """Delete a token. Returns False if it does not exist."""
        return self._store.write(lambda unit: tokens.remove(unit, identifier))

    def keys(self) -> list[str]:
        """All master keys, the oldest first."""
        with self._store.read() as connection:
            return tokens.keys(connection)

    def add_key(self, key: str) -> int:
        """Store a master key. Returns its id."""
        return self._store.write(lambda unit: tokens.insert_key(unit, key))

    def replace_key(self, key_id: int, key: str) -> None:
        """Replace the master key with this id. Raises NoSuchObject if it does not exist."""

        def replace(unit: Unit) -> None:
            if not tokens.replace_key(unit, key_id, key):
                raise NoSuchObject(f"No key found with keyId: {key_id}")

        self._store.write(replace)

    def remove_key(self, key_id: int) -> bool:
        """Delete the master key with this id. Returns False if it does not exist."""
        return self._store.write(lambda unit: tokens.remove_key(unit, key_id))

"""Named types: made, read and dropped."""

from hmstats.errors import AlreadyExists, InvalidObject, NoSuchObject
from hmstats.model.named_types import NamedType
from hmstats.store import named_types
from hmstats.store.engine import Store
from hmstats.store.unit import Unit


class NamedTypes:
    """The types of all databases."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> NamedType:
        """The type. Raises NoSuchObject."""
        with self._store.read() as connection:
            found = named_types.get(connection, name)
        if found is None:
            raise NoSuchObject(f'Type "{name}" not found.')
        return found

    def create(self, new: NamedType) -> None:
        """Make a type. Raises AlreadyExists, and InvalidObject when a field is there twice."""
        names = [field.name for field in new.fields]
        if len(set(names)) < len(names):
            raise InvalidObject(f"each field of type {new.name} must be there once, found {', '.join(names)}")

        def insert(unit: Unit) -> None:
            if named_types.get(unit.connection, new.name) is not None:
                raise AlreadyExists(f"Type {new.name} already exists")
            named_types.insert_one(unit, new)

        self._store.write(insert)

    def drop(self, name: str) -> None:
        """Drop a type; there may be none, as in Hive."""
        self._store.write(lambda unit: named_types.remove(unit, name))

"""Named types: created, read and dropped."""

from hmstats.errors import AlreadyExists, InvalidObject, NoSuchObject
from hmstats.model.catalog.named_types import NamedType
from hmstats.store.catalog import named_types
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit


class NamedTypes:
    """The types of all databases."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> NamedType:
        """The type. Raises NoSuchObject if it does not exist."""
        with self._store.read() as connection:
            named_type = named_types.get(connection, name)
        if named_type is None:
            raise NoSuchObject(f'Type "{name}" not found.')
        return named_type

    def create(self, new: NamedType) -> None:
        """Create a type. Raises AlreadyExists, and InvalidObject if two fields have one name."""
        names = [field.name for field in new.fields]
        if len(set(names)) < len(names):
            raise InvalidObject(f"type {new.name} must have each field once, found {', '.join(names)}")

        def insert(unit: Unit) -> None:
            if named_types.get(unit.connection, new.name) is not None:
                raise AlreadyExists(f"Type {new.name} already exists")
            named_types.insert_one(unit, new)

        self._store.write(insert)

    def drop(self, name: str) -> None:
        """Drop a type, if it exists, as in Hive."""
        self._store.write(lambda unit: named_types.remove(unit, name))

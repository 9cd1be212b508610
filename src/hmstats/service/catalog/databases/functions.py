"""User-defined functions: created, read, altered and dropped."""

import re
from dataclasses import replace

from hmstats.errors import AlreadyExists, InvalidObject, MetaError, NoSuchObject
from hmstats.model.catalog.functions import Function, FunctionName
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName
from hmstats.model.events import FunctionCreated, FunctionDropped
from hmstats.service.catalog.patterns import matching
from hmstats.service.lookups import missing_database
from hmstats.store.catalog import databases, functions
from hmstats.store.database.store import Store
from hmstats.store.unit.unit import Unit

_VALID_NAME = re.compile(r"[A-Za-z0-9_]+")


class Functions:
    """The functions of every database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: FunctionName) -> Function:
        """The function. Raises NoSuchObject if it does not exist."""
        with self._store.read() as connection:
            function = functions.get(connection, name)
        if function is None:
            raise NoSuchObject(f"Function {name} does not exist")
        return function

    def all(self) -> list[Function]:
        """Every function of the default catalog, by database and name."""
        if not self._store.rows(functions.ANY, {"catalog": DEFAULT_CATALOG}):
            return []
        with self._store.read() as connection:
            return functions.get_all(connection, DEFAULT_CATALOG)

    def names(self, database: DatabaseName, pattern: str | None) -> list[str]:
        """The names that a pattern matches, sorted. An empty pattern matches none, None matches all."""
        if pattern == "":
            return []
        with self._store.read() as connection:
            return matching(functions.names(connection, database), pattern)

    def matching(self, database: DatabaseName, pattern: str | None) -> list[Function]:
        """The functions whose names a pattern matches, sorted by name."""
        names = self.names(database, pattern)
        with self._store.read() as connection:
            return functions.get_many(connection, database, names)

    def create(self, function: Function) -> None:
        """Create a function.

        Raises AlreadyExists, NoSuchObject if its database does not exist, InvalidObject if its name is malformed.
        """
        _check(function)

        def insert(unit: Unit) -> None:
            database_id = databases.find_id(unit.connection, function.name.parent)
            if database_id is None:
                raise missing_database(function.name.parent)
            if functions.lock(unit, function.name) is not None:
                raise AlreadyExists(f"Function {function.name.function} already exists")
            new = replace(function, created_seconds=unit.now_seconds)
            functions.insert_one(unit, database_id, new)
            unit.record(FunctionCreated(new))

        self._store.write(insert)

    def alter(self, name: FunctionName, function: Function) -> None:
        """Replace a function; its name and database may change, its time of creation does not.

        Raises MetaError if it does not exist, AlreadyExists if the new name is taken, InvalidObject for a
        bad name, a missing database, and a move to another catalog.
        """
        _check(function)
        if function.name.catalog != name.catalog:
            raise InvalidObject("You cannot move a function between catalogs")

        def update(unit: Unit) -> None:
            database_id = databases.find_id(unit.connection, function.name.parent)
            if database_id is None:
                raise InvalidObject(f"Database {function.name.database} doesn't exist.")
            function_id, stored = functions.lock(unit, name), functions.get(unit.connection, name)
            if function_id is None or stored is None:
                raise MetaError(f"function {name.function} doesn't exist")
            if function.name != name and functions.lock(unit, function.name) is not None:
                raise AlreadyExists(f"Function {function.name.function} already exists")
            changed = replace(function, created_seconds=stored.created_seconds)
            functions.replace(unit, function_id, database_id, changed)

        self._store.write(update)

    def drop(self, name: FunctionName) -> None:
        """Drop a function but not its files. Raises NoSuchObject if it does not exist."""

        def delete(unit: Unit) -> None:
            function_id = functions.lock(unit, name)
            if function_id is None:
                raise NoSuchObject(f"Function {name.function} does not exist")
            functions.remove(unit, function_id)
            unit.record(FunctionDropped(name))

        self._store.write(delete)


def _check(function: Function) -> None:
    if not _VALID_NAME.fullmatch(function.name.function):
        raise InvalidObject(f"{function.name.function} is not a valid object name")

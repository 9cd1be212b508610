"""The needs of a call: actions on the objects that its arguments name.

Names are read as the calls read them, with `@catalog#` prefixes and letter cases, so that the name that is checked is
the name that is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum, auto
from typing import Any, NamedTuple, TypeAlias

from hmstats.errors import MetaError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import THE_SERVER, Identity, ObjectName
from hmstats.model.catalog import names
from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName

Arguments: TypeAlias = Mapping[str, Any]


class Extent(IntEnum):
    """The extent to which an action must be allowed."""

    __hash__ = int.__hash__  # as in Action
    OBJECT = auto()
    """On the object."""
    WHOLE = auto()
    """On the object and everything in it."""
    SOMEWHERE = auto()
    """On any object, since the call names none."""
    IF_LISTED = auto()
    """On the object, unless it may not be listed: then the call skips the object."""
    IN_PART = auto()
    """Not required: without it, a part of the answer is left out."""
    OR_STATISTICS = auto()
    """On the object; with only write_statistics, the call may change nothing but statistics."""


class Need(NamedTuple):
    """An action that a call takes on an object."""

    action: Action
    name: ObjectName
    extent: Extent = Extent.OBJECT


FindNeeds: TypeAlias = Callable[[Arguments, Identity], Iterable[Need]]
"""Finds the needs of a call in its arguments, for a user. Raises MetaError if an object is not named."""


def on_table(action: Action, database: str, table: str, catalog: str | None = None) -> FindNeeds:
    """The need for an action on a table, whose names are at these paths in the arguments, such as `request.dbName`."""
    paths = [path for path in (database, table, catalog) if path]

    def find(arguments: Arguments, _: Identity) -> Iterable[Need]:
        return (Need(action, table_of(*(value_at(arguments, path) for path in paths))),)

    return find


def on_database(action: Action, database: str, catalog: str | None = None, extent: Extent = Extent.OBJECT) -> FindNeeds:
    """The need for an action on a database, whose names are at these paths in the arguments."""
    paths = [path for path in (database, catalog) if path]

    def find(arguments: Arguments, _: Identity) -> Iterable[Need]:
        return (Need(action, database_of(*(value_at(arguments, path) for path in paths)), extent),)

    return find


def on_catalog(action: Action, path: str) -> FindNeeds:
    """The need for an action on a catalog, whose name is at this path in the arguments."""

    def find(arguments: Arguments, _: Identity) -> Iterable[Need]:
        return (Need(action, ((value_at(arguments, path) or "").lower(),)),)

    return find


def somewhere(action: Action) -> FindNeeds:
    """The need for an action on any object."""
    return lambda _arguments, _who: (Need(action, THE_SERVER, Extent.SOMEWHERE),)


def on_server(action: Action) -> FindNeeds:
    """The need for an action on the server."""
    return lambda _arguments, _who: (Need(action, THE_SERVER),)


def together(*finders: FindNeeds) -> FindNeeds:
    """All needs of several finders."""
    return lambda arguments, who: [need for find in finders for need in find(arguments, who)]


def table_of(database: str | None, table: str | None, catalog: str | None = None) -> ObjectName:
    """A table by its names, read as the calls read them. Raises MetaError if it is not named."""
    if database is None or table is None:
        raise MetaError(f"a table's database and name must be texts, found {database} and {table}")
    return parts(names.table_name(database, table, catalog))


def tables_of(database: str | None, tables: Iterable[str | None], catalog: str | None = None) -> Iterator[ObjectName]:
    """Some tables of one database, whose name is read only once: it may be long, and the tables very many.

    Raises MetaError if one is not named.
    """
    parent = database_of(database, catalog)
    for each in tables:
        if each is None:
            raise MetaError(f"a table of database {'.'.join(parent)} must be named by a text, found none")
        yield (*parent, each.lower())


def parts(name: TableName) -> ObjectName:
    """A table's name in parts."""
    return name.catalog, name.database, name.table


def database_of(database: str | None, catalog: str | None = None) -> ObjectName:
    """A database by its names, read as the calls read them. Raises MetaError if it is not named."""
    if database is None:
        raise MetaError("a database's name must be a text, found none")
    parsed = names.database_name(database, catalog)
    return parsed.catalog, parsed.database


def asked_object(request: Any) -> ObjectName:
    """The catalog, database or table of a request that may name any of them; without names, the server."""
    if request.tblName is not None:
        return table_of(request.dbName, request.tblName, request.catName)
    if request.dbName is not None:
        return database_of(request.dbName, request.catName)
    return THE_SERVER if request.catName is None else (request.catName.lower(),)


def function_of(database: str | None, function: str | None, catalog: str | None = None) -> ObjectName:
    """A function by its names, read as the calls read them. Raises MetaError if it is not named."""
    if function is None:
        raise MetaError("Function name cannot be null.")
    return (*database_of(database, catalog), function.strip().lower())


def catalog_of(pattern: str | None) -> str:
    """The catalog of a pattern of databases."""
    return names.split_database(pattern or "")[0].lower() or DEFAULT_CATALOG


def value_at(arguments: Arguments, path: str) -> Any:
    """The value at a path such as `request.dbName`; None if it, or a struct on the way, was not sent."""
    first, *steps = path.split(".")
    value = arguments.get(first)
    for step in steps:
        value = getattr(value, step, None)
    return value

"""Checks that named tables and databases exist, since the list of a misspelt one would just be empty."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from hmstats.client.metastore import Metastore
from hmstats.client.naming import named_object
from hmstats.errors import StatementError
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName, TableName

Listed = TypeVar("Listed")


def list_named(service: Metastore, text: str, listed: Callable[[str, str | None, str], list[Listed]]) -> list[Listed]:
    """The entries that `listed` returns of a database, a table (None: all) and a catalog, given by a name or a pattern.

    Raises StatementError for a malformed name, and for a name of a missing object.
    """
    of, table = named_object(text)
    found = listed(of.database, table, of.catalog)
    if not found:
        check_exists(service, text)
    return found


def named_or_all(service: Metastore, texts: Sequence[str] | None) -> list[str]:
    """These names and patterns; without any, patterns of everything in each catalog."""
    if texts:
        return list(texts)
    others = (quote_name(each) for each in service.catalog_names() if each != DEFAULT_CATALOG)
    return ["*", *(f"{each}.*.*" for each in others)]


def check_exists(service: Metastore, text: str) -> None:
    """Raise StatementError for the name of a table or a database that is missing; a pattern may match nothing."""
    if "*" in text:
        return
    of, table = named_object(text)
    if table is not None:
        service.existing_table(text)
    else:
        check_database(service, of)


def check_database(service: Metastore, of: DatabaseName) -> None:
    """Raise StatementError for a database that is missing."""
    if of.database not in service.database_names(of.catalog):
        raise StatementError(f"database {of.typed} is not in the metastore at {service.address}")


def every_database(service: Metastore) -> Iterator[DatabaseName]:
    """The databases of all catalogs."""
    for catalog in service.catalog_names():
        for database in service.database_names(catalog):
            yield DatabaseName(catalog, database)


def tables_in(service: Metastore, of: DatabaseName) -> Iterator[TableName]:
    """The tables and views of a database."""
    for table in service.table_names(of.database, of.catalog):
        yield TableName(of.catalog, of.database, table)

"""Finds the objects that cannot be moved to hmstats' own tables, with a sentence for each."""

from collections.abc import Callable, Iterator
from typing import Any

from hmstats.errors import UnknownCall
from hmstats.gateway.moving.described import Described
from hmstats.model.catalog.names import database_text
from hmstats.model.catalog.objects import MATERIALIZED_VIEW, Database, DatabaseName, Table
from hmstats.wire.idl import extension
from hmstats.wire.idl import hive_metastore as api


def of_database(locking: Callable[[str, object], object], database: Database) -> Iterator[str]:
    """The obstacles in a database itself; `locking` is asked for the locks of queries."""
    name = database.name
    if database.remote:
        yield f"database {name.database} is behind a data connector"
    for each in _locks(locking, name):
        yield f"lock {each.lockid} of {each.user} is on {each.tablename or each.dbname}"


def of_care(place: Described, name: DatabaseName) -> Iterator[str]:
    """The locked and the pending statistics of a database, whose state a move would lose."""
    locks = extension.StatisticsLocksRequest(catName=name.catalog, dbPatterns=name.database)
    for each in place.call("get_statistics_locks", locks).locks:
        yield f"statistics of {each.dbName}.{each.tblName or '*'} are locked: unlock them first"
    pending = extension.PendingRequest(catName=name.catalog, dbPatterns=name.database)
    waiting = place.call("list_pending_statistics", pending).owners
    for table in dict.fromkeys(each.tblName for each in waiting):
        yield f"statistics of {name.database}.{table} wait: publish or reject them first"


def of_table(place: Described, table: Table, has_moved_with: Callable[[DatabaseName], bool]) -> Iterator[str]:
    """The obstacles in a table. `has_moved_with` says whether a database is, or will be, in the same place."""
    name = table.name
    if table.parameters.get("transactional", "").lower() == "true":
        yield f"table {name.typed} is transactional"
    if table.table_type == MATERIALIZED_VIEW:
        yield f"table {name.typed} is a materialized view"
    for each in place.constraints(name):
        if each.reference is not None and not has_moved_with(each.reference.table.parent):
            other = database_text(each.reference.table.parent)
            yield f"table {name.typed} has a foreign key {each.name} to database {other}, which is elsewhere"


def _locks(locking: Callable[[str, object], object], name: DatabaseName) -> list[Any]:
    """The locks on a database and its tables."""
    try:
        found = locking("show_locks", api.ShowLocksRequest(dbname=name.database))
    except UnknownCall:
        return []
    return [each for each in getattr(found, "locks", None) or () if each.dbname == name.database]

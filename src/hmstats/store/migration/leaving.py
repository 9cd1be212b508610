"""Removes hmstats from the database of a Hive: our own tables, and parameters called `hmstats.*`.

Hive's tables themselves were never altered, so nothing else has to be undone.
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Table, delete, func, inspect, select, text

from hmstats.errors import DatabaseTaken, FilesBusy, SchemaError
from hmstats.store.beside_hive import present_tables as shapes
from hmstats.store.beside_hive.present_tables import OURS
from hmstats.store.connections import claims
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate, schema_revision
from hmstats.store.schema import HMSTATS_FILE_CHANGE, METADATA
from hmstats.store.storage import file_changes

_PARAMETERS = tuple(
    METADATA.tables[name] for name in ("DATABASE_PARAMS", "TABLE_PARAMS", "PARTITION_PARAMS", "SD_PARAMS")
)
_PREFIX = "hmstats."
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Remains:
    """Contents of hmstats in a Hive's database: rows by own table, and parameters by Hive's table."""

    database: str
    tables: dict[str, int]
    parameters: dict[str, int]


def remains(url: str) -> Remains:
    """Count hmstats' contents in a Hive's database; changes nothing. Raises SchemaError if it is no Hive's."""
    schema_revision.require_database(url)
    store = Store.open(url, pool_size=1)
    try:
        with store.read() as connection:
            return _remains(connection)
    finally:
        store.close()


def leave(url: str) -> Remains:
    """Drop our own tables and remove our parameters, all or nothing. Returns the removed contents.

    Raises SchemaError if the database is no Hive's, DatabaseTaken while a server of hmstats writes to it, FilesBusy if
    a killed server left a move or a removal of directories unfinished.
    """
    schema_revision.require_database(url)
    found: list[Remains] = []

    def work(connection: Connection) -> None:
        found.append(_remains(connection))
        if not connection.execute(text(claims.TRY_IN_TRANSACTION)).scalar_one():
            raise DatabaseTaken(f"database {_name(connection)} is in use by a server of hmstats: stop it first")
        if HMSTATS_FILE_CHANGE.name in found[0].tables:
            _require_settled(connection)
        for name in found[0].tables:
            connection.execute(text(f'DROP TABLE "{name}"'))
        for table in _PARAMETERS:
            connection.execute(delete(table).where(_is_ours(table)))

    migrate.in_one_migration(url, work)
    return found[0]


def _require_settled(connection: Connection) -> None:
    """Raise FilesBusy if changes of directories are unfinished: only their rows tell how to finish or undo them."""
    pending = file_changes.pending(connection)
    if not pending:
        return
    shown = ", ".join(f"{each.kind} of {each.subject}" for each in pending[:_MOST_SHOWN])
    more = f" and {len(pending) - _MOST_SHOWN:,} more" if len(pending) > _MOST_SHOWN else ""
    raise FilesBusy(
        f"table {HMSTATS_FILE_CHANGE.name} of database {_name(connection)} has unfinished changes of directories: "
        f"{shown}{more}; start a server once so that it settles them"
    )


def _remains(connection: Connection) -> Remains:
    if not shapes.read(connection).beside_hive:
        raise SchemaError(
            f"database {_name(connection)} is hmstats' own: take the statistics out with `hmstats export`, then drop it"
        )
    return Remains(
        database=_name(connection),
        tables={name: _count(connection, f'SELECT count(*) FROM "{name}"') for name in _own_tables(connection)},
        parameters={table.name: _parameters(connection, table) for table in _PARAMETERS},
    )


def _own_tables(connection: Connection) -> list[str]:
    found = inspect(connection).get_table_names()
    return sorted(name for name in found if name.startswith(OURS))


def _count(connection: Connection, statement: str) -> int:
    return int(connection.execute(text(statement)).scalar_one())


def _parameters(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table).where(_is_ours(table))).scalar_one())


def _is_ours(table: Table) -> ColumnElement[bool]:
    return table.c.PARAM_KEY.startswith(_PREFIX, autoescape=True)


def _name(connection: Connection) -> str:
    return shown_url(connection.engine.url)

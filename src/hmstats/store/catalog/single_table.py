"""Reads one table by its name in one statement without a transaction, the way of most callers, on PostgreSQL.

The ordinary way (tables.get_many) takes two statements in a transaction: five round trips.
"""

from typing import Any, NamedTuple

from sqlalchemy import Engine, Select, bindparam

from hmstats.model.catalog.objects import Table, TableName
from hmstats.store.catalog import tables
from hmstats.store.changes import versions
from hmstats.store.schema import TBLS
from hmstats.store.statements.single_read import OneOf, SingleRead
from hmstats.store.storage.descriptor_rows import Storages, columns_of_row, read_of_row

_NAMES = [column.key for column in tables.QUERY.selected_columns]
_Row = NamedTuple("_Row", [(name, Any) for name in _NAMES])  # type: ignore[misc]  # the query says which


def _query(_: OneOf) -> Select[Any]:
    cells = columns_of_row(tables.PARTS, TBLS.c.TBL_ID, TBLS.c.SD_ID)
    return tables.QUERY.add_columns(*cells).where(tables.HERE, TBLS.c.TBL_NAME == bindparam("table"))


_READ = SingleRead(_query, ["postgresql"])


def read(engine: Engine, name: TableName) -> list[Table] | None:
    """The table of this name, if there is one; notes its version.

    None if the ordinary way must be taken: on SQLite, on a Hive's database, for a skewed table, and if the database
    does not answer.
    """
    if engine.dialect.name != "postgresql":
        return None
    rows = _READ.rows(engine, tables.name_parameters(name))
    if not rows:
        return None if rows is None else []
    row: Any = _Row(*rows[0][: len(_NAMES)])
    parts = read_of_row(tables.PARTS, row.TBL_ID, row.SD_ID, row, rows[0][len(_NAMES) :])
    if parts is None:
        return None
    versions.note_read(row.TBL_ID, row.VERSION)
    return tables.tables_of(name.parent, [row], parts, Storages(parts))

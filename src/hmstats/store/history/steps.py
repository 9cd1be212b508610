"""The steps of writes in the history: what each changed, when, and by whom."""

import json
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, func, select

from hmstats.model.catalog.objects import TableName
from hmstats.store.schema import HMSTATS_HISTORY as HISTORY

OF_TABLE = 0
"""The partition id in rows about the table itself."""
BEGAN = 0
"""The table's id in the row that says since when history is kept."""
_C = HISTORY.c
_HEAD = [each for each in _C if each.name not in ("STORED", "STORED_SKETCHES")]
"""The columns of a step without what it stored."""


class Kind(Enum):
    """The kind of rows that a step of a write changes."""

    COLUMNS = "columns"
    PARAMETERS = "parameters"
    DROPPED = "dropped"
    ARRIVED = "arrived"
    RENAMED = "renamed"
    BEGAN = "began"


class Key(NamedTuple):
    """The key of one column's statistics; the table's own have the partition id OF_TABLE."""

    partition_id: int
    engine: str
    column: str


class Step(NamedTuple):
    """A step of a write, and the name that its table had before. `columns` and `engine` None: all.

    `partitions` are ids; None is the table itself, and with DROPPED all of its partitions too. A step that copied
    nothing has the version `since` which the steps say what they stored (replay.py). The table was made at
    `created_seconds`; None if the step does not say when.
    """

    table_id: int
    version: int
    number: int
    at_ms: int
    table: TableName
    kind: Kind
    writer: str | None
    call: str | None
    engine: str | None
    columns: frozenset[str] | None
    partitions: frozenset[int] | None
    since: int | None = None
    created_seconds: int | None = None

    @property
    def keys(self) -> Iterator[Key]:
        """The statistics that a step of columns names."""
        owners = (OF_TABLE,) if self.partitions is None else self.partitions
        return (Key(owner, self.engine or "", column) for owner in owners for column in self.columns or ())

    def is_about(self, partition_id: int) -> bool:
        """Whether the step changes a partition, or (OF_TABLE) the table itself."""
        if self.partitions is not None:
            return partition_id in self.partitions
        return partition_id == OF_TABLE or self.kind is Kind.DROPPED

    def covers(self, partition_id: int, engine: str, column: str) -> bool:
        """Whether the step changes these statistics: the history has them, or they were not there before."""
        if self.kind not in (Kind.COLUMNS, Kind.DROPPED) or not self.is_about(partition_id):
            return False
        return (self.engine is None or self.engine == engine) and (self.columns is None or column in self.columns)


def after(connection: Connection, table_id: int, at_ms: int) -> list[Step]:
    """The steps of a table's writes after a time, in order."""
    since = first_version(connection, table_id, at_ms)
    if since is None:
        return []
    return _steps(connection, select(*_HEAD).where(_C.TBL_ID == table_id, since <= _C.VERSION))


def name_at(connection: Connection, table_id: int, at_ms: int) -> TableName | None:
    """The name that a table had at a time; None if it has it still, as far as its writes tell."""
    query = select(_C.CAT_NAME, _C.DB_NAME, _C.TBL_NAME).where(_C.TBL_ID == table_id, at_ms < _C.AT)
    row = connection.execute(query.order_by(_C.VERSION, _C.STEP).limit(1)).one_or_none()
    return None if row is None else TableName(*row)


def first_version(connection: Connection, table_id: int, at_ms: int) -> int | None:
    """The version of the table's first write after a time; None if there is none."""
    query = select(func.min(_C.VERSION)).where(_C.TBL_ID == table_id, at_ms < _C.AT)
    found: int | None = connection.execute(query).scalar_one_or_none()
    return found


def steps_of_name(connection: Connection, name: TableName, table_id: int | None) -> list[Step]:
    """The steps of tables that had this name, and of the table with this id, in order."""
    here = (_C.CAT_NAME == name.catalog) & (_C.DB_NAME == name.database) & (_C.TBL_NAME == name.table)
    ids = set(connection.execute(select(_C.TBL_ID).where(here).distinct()).scalars())
    wanted = ids | ({table_id} if table_id is not None else set())
    return _steps(connection, select(*_HEAD).where(_C.TBL_ID.in_(sorted(wanted))))


def began_ms(connection: Connection) -> int | None:
    """Since when history is kept, in epoch ms; None if it is not."""
    found: int | None = connection.execute(select(_C.AT).where(_C.TBL_ID == BEGAN)).scalar_one_or_none()
    return found


def _steps(connection: Connection, query: Select[Any]) -> list[Step]:
    return [step_of(row) for row in connection.execute(query.order_by(_C.TBL_ID, _C.VERSION, _C.STEP))]


def step_of(row: Any) -> Step:
    """The step in a row."""
    return Step(
        row.TBL_ID,
        row.VERSION,
        row.STEP,
        row.AT,
        TableName(row.CAT_NAME, row.DB_NAME, row.TBL_NAME),
        Kind(row.KIND),
        row.WRITER,
        row.CALL_NAME,
        row.ENGINE,
        _set(row.COLUMN_NAMES),
        _set(row.PART_IDS),
        row.SINCE,
        row.CREATED,
    )


def _set(text: str | None) -> frozenset[Any] | None:
    listed: Sequence[Any] | None = None if text is None else json.loads(text)
    return None if listed is None else frozenset(listed)

"""HMSTATS_TABLE_VERSION: a version for each table, incremented by every write that touches it.

A cached read of a table is valid as long as the version is the same, on any server. A table has a version from its
creation to its drop, and ids are never reused, so a table that is created again is another. A read of a table by name
notes its version (`note_read`) in the transaction of the rest of the read, for callers in `noting_reads`. A read of
only some partitions names them: changes of others (touched_partitions.py) do not invalidate it.

A version minus the number of plain writes among them is the number of the table's definition: what a plain write of
statistics relies on, and leaves as it is. They are counted as TOLD_WRITES, since they also tell the history what they
store. A server of the version before counts none of these: its writes are new definitions.

A Hive on the same database does not update these versions. If it logs every change in the transaction of the change,
the last event's id is used as well: as if the log were one more table, whose partitions are the tables
(hive_changes.py).
"""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Engine, select, update
from sqlalchemy.exc import SQLAlchemyError

from hmstats.store.changes import notifications, touched_partitions
from hmstats.store.connections.lost_commits import STAMP, LostCommitDetector
from hmstats.store.schema import HMSTATS_TABLE_VERSION as VERSIONS
from hmstats.store.statements import queued
from hmstats.store.statements.upserts import upsert
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

LOG = 0
"""The id of Hive's notification log among ids of tables, which begin with 1. Its version is its last event's id."""
STAMPED = -1
"""The id of the database's stamp among ids of tables."""
_UNCOUNTED = -1
"""The version, beside the log's, of a table that only Hive has written to."""

_CURRENT = 'SELECT "TBL_ID", "VERSION" FROM "HMSTATS_TABLE_VERSION" WHERE "TBL_ID" '
CURRENT_OF_ARRAY = _CURRENT + "= ANY(%s)"
"""PostgreSQL's query for the versions of an array of tables."""
_CURRENT_OF_JSON = _CURRENT + "IN (SELECT value FROM json_each(?))"
_WITH_LOG = f"""
SELECT asked.id, COALESCE("VERSION", {_UNCOUNTED}) FROM (SELECT %s) AS asked
LEFT JOIN "HMSTATS_TABLE_VERSION" ON "TBL_ID" = asked.id WHERE asked.id <> {LOG}
UNION ALL SELECT {LOG}, "NEXT_EVENT_ID" - 1 FROM "NOTIFICATION_SEQUENCE"
"""
LOGGED_OF_ARRAY = _WITH_LOG % "unnest(%s) AS id"
"""PostgreSQL's query for the versions of an array of tables that contains LOG: every table gets a version."""
_LOGGED_OF_JSON = _WITH_LOG % "value AS id FROM json_each(?)"


class NotedRead(NamedTuple):
    """A table's version, and the names of the partitions that were read; None means any partition."""

    version: int
    partitions: frozenset[str] | None


@dataclass(slots=True)
class _Notes:
    """The versions that reads have noted, by table id."""

    tables: dict[int, NotedRead] = field(default_factory=dict)
    log: int | None = None
    """The version of Hive's log before anything was read; None if it is not used."""


_notes: ContextVar[_Notes | None] = ContextVar("noted_versions", default=None)


def bump(
    unit: Unit, table_id: int, partitions: Collection[str] | None = None, *, own: bool = False, plain: bool = False
) -> None:
    """Increment the table's version for a write; with `partitions`, it touched only these (touched_partitions.py).

    They include the names of new partitions, and the old and new names of renamed ones. With `own` it touched the
    table's own parameters or statistics too, but neither its columns nor its keys. A `plain` write leaves the table's
    definition: it only inserts or updates rows of column statistics, of the columns' own types.
    """
    if plain:
        unit.counted.add(table_id)
        upsert(unit, VERSIONS, ["TBL_ID"], [{"TBL_ID": table_id, "VERSION": 1}], _counted_as_plain)
    else:
        bump_all(unit, [table_id])
    if partitions is not None:
        touched_partitions.append(unit, table_id, partitions, own=own)


def bump_own(unit: Unit, table_id: int, *, partitioned: bool, plain: bool = False) -> None:
    """Increment the table's version for a write of its own parameters or statistics, which touched no partition.

    Of a table that is not `partitioned` nothing more need be said.
    """
    bump(unit, table_id, () if partitioned else None, own=True, plain=plain)


def bump_all(unit: Unit, table_ids: Sequence[int]) -> None:
    """Increment the versions of all these tables, for a write that touched each."""
    unit.counted.update(table_ids)
    rows = [{"TBL_ID": table_id, "VERSION": 1} for table_id in sorted(table_ids)]
    upsert(unit, VERSIONS, ["TBL_ID"], rows, _next_version)


def _next_version(old: Any, _new: Any) -> dict[str, ColumnElement[Any]]:
    return {"VERSION": old.VERSION + 1}


def _counted_as_plain(old: Any, _new: Any) -> dict[str, ColumnElement[Any]]:
    return {"VERSION": old.VERSION + 1, "TOLD_WRITES": old.TOLD_WRITES + 1}


def restore(unit: Unit, table_id: int, version: int) -> None:
    """Set the version of a table back, in a unit that will not be kept."""
    unit.connection.execute(update(VERSIONS).where(VERSIONS.c.TBL_ID == table_id).values(VERSION=version))


def read(connection: Connection, table_id: int) -> int:
    """The table's version; 0 if it has none."""
    query = select(VERSIONS.c.VERSION).where(VERSIONS.c.TBL_ID == table_id)
    return connection.execute(query).scalar_one_or_none() or 0


def read_many(connection: Connection, table_ids: Sequence[int]) -> dict[int, int]:
    """The versions by table id; tables without one are absent."""
    query = select(VERSIONS.c.TBL_ID, VERSIONS.c.VERSION).where(one_of(connection, VERSIONS.c.TBL_ID, table_ids))
    return dict(connection.execute(query).all())


def begin(unit: Unit, table_id: int) -> None:
    """Insert the first version of a new table."""
    unit.counted.add(table_id)
    queued.insert(unit, VERSIONS, {"TBL_ID": [table_id], "VERSION": [1]})


def remove(unit: Unit, table_ids: Sequence[int]) -> None:
    """Remove the versions and changes of dropped tables."""
    unit.counted.update(table_ids)
    queued.delete(unit, VERSIONS.c.TBL_ID, table_ids)
    touched_partitions.remove(unit, table_ids)


@contextmanager
def noting_reads() -> Iterator[dict[int, NotedRead]]:
    """Collect the versions, by table id, of the tables read by name inside; if one is read twice, the first version.

    Versions only grow: if the first is still the table's version, it is the version of everything that was read.
    """
    notes = _Notes()
    token = _notes.set(notes)
    try:
        yield notes.tables
    finally:
        _notes.reset(token)


def note_log(connection: Connection) -> None:
    """Note the version of Hive's log before the following reads, which see this snapshot or a later one."""
    notes = _notes.get()
    if notes is not None and notes.log is None:
        notes.log = notifications.current_id(connection)


def note_unlogged() -> None:
    """Note a read whose changes Hive's log does not contain: the log is noted with version 0, from before any event."""
    notes = _notes.get()
    if notes is not None and notes.log is not None:
        notes.tables[LOG] = NotedRead(0, None)


def note_read(table_id: int, version: int | None, partitions: Collection[str] | None = None) -> None:
    """Note that a table of this version was read; None if it has none.

    With `partitions`, only these were read, by their stored names.
    """
    notes = _notes.get()
    if notes is None:
        return
    if notes.log is None:
        _add_note(notes.tables, table_id, version or 0, partitions)
    else:
        _add_note(notes.tables, table_id, version or _UNCOUNTED, partitions)
        _add_note(notes.tables, LOG, notes.log, [str(table_id)])


def _add_note(noted: dict[int, NotedRead], table_id: int, version: int, partitions: Collection[str] | None) -> None:
    before = noted.get(table_id, NotedRead(version, frozenset()))
    if partitions is None or before.partitions is None:
        noted[table_id] = NotedRead(before.version, None)
    else:
        noted[table_id] = NotedRead(before.version, before.partitions.union(partitions))


def with_stamp(question: str) -> str:
    """A query for versions that also selects the database's stamp, as the version of STAMPED."""
    return f"{question} UNION ALL SELECT {STAMPED}, {STAMP}"


def check_stamp(lost_commits: LostCommitDetector, versions: dict[int, int]) -> dict[int, int]:
    """The versions in an answer; none if its stamp shows that the database may be an older one."""
    stamp = versions.pop(STAMPED, None)
    return versions if stamp is None or lost_commits.check_stamp(stamp) else {}


def current(engine: Engine, lost_commits: LostCommitDetector, table_ids: Collection[int]) -> dict[int, int]:
    """The versions of tables that have one, in one round trip, since `engine` begins no transaction.

    If LOG is among them, every table has one, as noted beside Hive's log. Empty if the database does not answer;
    the read that follows raises its error.
    """
    errors = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
    try:
        pooled = engine.raw_connection()  # a statement through SQLAlchemy takes twice as long
    except errors:
        return {}
    try:
        ids = [*table_ids]
        cursor = pooled.cursor()
        if engine.dialect.name == "sqlite":
            cursor.execute(_LOGGED_OF_JSON if LOG in table_ids else _CURRENT_OF_JSON, (json.dumps(ids),))
        else:
            question = LOGGED_OF_ARRAY if LOG in table_ids else CURRENT_OF_ARRAY
            cursor.execute(with_stamp(question) if lost_commits.has_pooler else question, (ids,))
        return check_stamp(lost_commits, dict(cursor.fetchall()))
    except errors as error:
        pooled.invalidate(error)
        return {}
    finally:
        pooled.close()

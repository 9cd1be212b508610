"""HMSTATS_FILE_CHANGE: changes of directories in progress, of all servers.

A row is written before a directory is touched, or with the drop of its object, and deleted after the last step. If one
change moves or empties directories of another, the two never run at once: the start of such a change locks the table
until its commit, and checks the others.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, exists, insert, select, text, update

from hmstats.errors import FilesBusy
from hmstats.model.catalog.file_changes import FileChange, Kind, details_of
from hmstats.store.schema import HMSTATS_FILE_CHANGE as CHANGES
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_LOCK_TABLE = text('LOCK TABLE "HMSTATS_FILE_CHANGE" IN SHARE ROW EXCLUSIVE MODE')
"""Waits until all other writers of the table have committed, and blocks new ones."""
_C = CHANGES.c
ARE_ANY = exists(select(_C.ID))
"""The condition that any change is in progress, for use in another query."""
_NAMES = tuple(each.name for each in CHANGES.columns)
_NOT_REMOVING = exists().where(_C.KIND != Kind.REMOVE.value)
_INSERT_IF_FREE = insert(CHANGES).from_select(
    _NAMES, select(*(bindparam(each.name, type_=each.type) for each in CHANGES.columns)).where(~_NOT_REMOVING)
)
"""Inserts a row if only removals are in progress, as almost always."""


def begin(unit: Unit, change: FileChange) -> None:
    """Insert the row of a change that moves or empties directories. Raises FilesBusy if another change conflicts."""
    if unit.connection.dialect.name == "postgresql":
        unit.connection.execute(_LOCK_TABLE)
    check_free(unit.connection, change.places)
    unit.connection.execute(insert(CHANGES), _row(unit, change))


def begin_removal(unit: Unit, change: FileChange) -> None:
    """Insert the row of a removal, as the last write of its unit. Raises FilesBusy if a move or truncation conflicts.

    On PostgreSQL the INSERT waits for transactions that have locked the table.
    """
    row = _row(unit, change)
    if unit.connection.execute(_INSERT_IF_FREE, row).rowcount == 0:
        _refuse(change.places, [each for each in pending(unit.connection) if each.kind is not Kind.REMOVE])
        unit.connection.execute(insert(CHANGES), row)


def check_free(connection: Connection, places: Sequence[str]) -> None:
    """Raise FilesBusy if a change is in progress in, around or inside of one of these directories."""
    _refuse(places, pending(connection))


def check_stays(connection: Connection, locations: Sequence[str]) -> None:
    """Raise FilesBusy if a change in progress removes what lies at one of these locations, or copies files to it."""
    changes = pending(connection)
    reached = {each.id: each.reached(locations) for each in changes}
    in_the_way = [each for each in changes if reached[each.id]]
    if in_the_way:
        places = [place for each in in_the_way for place in reached[each.id]]
        raise _busy(places[0], in_the_way, places)


def pending(connection: Connection) -> list[FileChange]:
    """The changes in progress, the oldest first."""
    query = select(CHANGES).order_by(_C.STARTED_AT, _C.ID).execution_options(**PREPARED)
    return [_change(row) for row in connection.execute(query)]


def get(connection: Connection, change: FileChange) -> FileChange | None:
    """The current state of a change; None if it has ended or another process has taken it over."""
    row = connection.execute(select(CHANGES).where(*_is(change))).one_or_none()
    return None if row is None else _change(row)


def take_over(unit: Unit, change: FileChange, owner: int) -> bool:
    """Change the owner of a change. Returns False if it has ended or another process has taken it over."""
    return unit.connection.execute(update(CHANGES).where(*_is(change)).values(OWNER=owner)).rowcount == 1


def replace(unit: Unit, change: FileChange, into: FileChange) -> None:
    """Replace the kind and details of a change. Raises FilesBusy if another process has taken it over."""
    changed = {"KIND": into.kind.value, "PLACES": into.places_text(), "DETAILS": into.details_text()}
    _require_one_row(unit.connection.execute(update(CHANGES).where(*_is(change)).values(changed)).rowcount, change)


def end(unit: Unit, change: FileChange) -> None:
    """Delete the row of a change. Raises FilesBusy if another process has taken it over."""
    _require_one_row(unit.connection.execute(delete(CHANGES).where(*_is(change))).rowcount, change)


def remove(unit: Unit, change: FileChange) -> None:
    """Delete the row of a change that is done, if it exists."""
    unit.connection.execute(delete(CHANGES).where(*_is(change)))


def _is(change: FileChange) -> tuple[ColumnElement[bool], ...]:
    return _C.ID == change.id, _C.OWNER == change.owner


def _require_one_row(rows: int, change: FileChange) -> None:
    if rows != 1:
        raise FilesBusy(f"{change.subject}: another server has taken over the change of its directories")


def _refuse(places: Sequence[str], others: Sequence[FileChange]) -> None:
    conflicting = [each for each in others if each.is_near(places)]
    if conflicting:
        raise _busy(conflicting[0].places[0], conflicting)


def _busy(place: str, conflicting: Sequence[FileChange], places: Sequence[str] = ()) -> FilesBusy:
    return FilesBusy(
        f"{place} is in use: {conflicting[0].kind} of {conflicting[0].subject} is in progress", conflicting, places
    )


def _row(unit: Unit, change: FileChange) -> dict[str, Any]:
    return {
        "ID": change.id,
        "OWNER": change.owner,
        "KIND": change.kind.value,
        "SUBJECT": change.subject,
        "PLACES": change.places_text(),
        "DETAILS": change.details_text(),
        "STARTED_AT": unit.now_seconds,
    }


def _change(row: Any) -> FileChange:
    kind = Kind(row.KIND)
    places = tuple(json.loads(row.PLACES))
    return FileChange(row.ID, row.OWNER, kind, row.SUBJECT, places, details_of(kind, row.DETAILS))

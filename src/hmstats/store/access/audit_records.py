"""Calls that were recorded: HMSTATS_AUDIT, and by the objects that they are about, HMSTATS_AUDIT_OBJECT.

Clients choose names, so that texts are cut to what the columns, and an index of PostgreSQL, can hold.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, exists, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from hmstats.model.access.audit_record import AuditRecord, WantedRecords
from hmstats.store.schema import HMSTATS_AUDIT as RECORDS
from hmstats.store.schema import HMSTATS_AUDIT_OBJECT as OBJECTS
from hmstats.store.unit.unit import Unit

_R, _O = RECORDS.c, OBJECTS.c
_KEY = ("AT", "WRITER", "NUMBER")
_NAMES = ("CAT_NAME", "DB_NAME", "TBL_NAME")
_MOST_OBJECTS = 1_000
"""The objects of a record that are stored."""
_MOST_NAME_CHARACTERS = 200
"""Characters of a name that are stored: an entry of PostgreSQL's index holds 2,700 bytes."""
_REMOVED_AT_ONCE = 1_000


class Numbered(NamedTuple):
    """A record with the random number of its process, and its own number there, which is never used again."""

    writer: int
    number: int
    record: AuditRecord


def insert_many(unit: Unit, records: Sequence[Numbered]) -> None:
    """Insert records, except stored ones: a commit whose answer was lost may have stored them."""
    _insert(unit, RECORDS, [_row(each) for each in records])
    named = [row for each in records for row in _object_rows(each)]
    if named:
        _insert(unit, OBJECTS, named)


def newest(connection: Connection, wanted: WantedRecords, limit: int) -> list[AuditRecord]:
    """The wanted records, the newest first, `limit` at most."""
    newest_first = (_R.AT.desc(), _R.WRITER.desc(), _R.NUMBER.desc())
    rows = connection.execute(select(RECORDS).where(*_conditions(wanted)).order_by(*newest_first).limit(limit))
    return [_record(row) for row in rows]


def remove_older(unit: Unit, before_ms: int) -> int:
    """Remove the oldest records before a time (epoch ms). Returns their number, about a thousand at most."""
    oldest = select(_R.AT).where(_R.AT < before_ms).order_by(_R.AT).limit(_REMOVED_AT_ONCE)
    times = unit.connection.execute(oldest).scalars().all()
    if not times:
        return 0
    unit.connection.execute(delete(OBJECTS).where(_O.AT <= times[-1]))
    return unit.connection.execute(delete(RECORDS).where(_R.AT <= times[-1])).rowcount


def _insert(unit: Unit, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    dialect = sqlite if unit.connection.dialect.name == "sqlite" else postgresql
    unit.connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)


def _row(numbered: Numbered) -> dict[str, Any]:
    record = numbered.record
    return {
        **_key(numbered),
        "WORKER": record.worker,
        "CONNECTION_ID": record.connection,
        "ADDRESS": _cut(record.address, 128),
        "PRINCIPAL": _cut(record.principal, 256),
        "MECHANISM": _cut(record.mechanism, 64),
        "USER_NAME": _cut(record.user, 256),
        "CALL_NAME": _cut(record.call, 128),
        "OBJECTS": json.dumps([".".join(_parts(name)).rstrip(".") for name in record.objects[:_MOST_OBJECTS]]),
        "ALLOWED": record.allowed,
        "RULE_NUMBER": record.rule,
        "OUTCOME": _cut(record.outcome, 128),
        "VIA": _cut(record.via, 256),
    }


def _object_rows(numbered: Numbered) -> list[dict[str, Any]]:
    """A row for each object of a record."""
    names = dict.fromkeys(map(_parts, numbered.record.objects[:_MOST_OBJECTS]))
    return [{**dict(zip(_NAMES, name, strict=True)), **_key(numbered)} for name in names]


def _key(numbered: Numbered) -> dict[str, int]:
    return dict(zip(_KEY, (numbered.record.time_ms, numbered.writer, numbered.number), strict=True))


def _parts(name: str) -> tuple[str, ...]:
    """Catalog, database and table; empty texts for those that an object lacks."""
    return tuple(_cut(part, _MOST_NAME_CHARACTERS) for part in (*name.split(".", 2), "", "")[:3])


def _cut(text: Any, most: int) -> Any:
    """A text cut to what every database can hold; None stays None."""
    if text is None:
        return None
    return text[:most].encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _conditions(wanted: WantedRecords) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.about is not None:
        same = (_O[name] == _R[name] for name in _KEY)
        conditions.append(exists(select(_O.AT).where(*same, _is_about(wanted.about))))
    if wanted.since_ms is not None:
        conditions.append(_R.AT >= wanted.since_ms)
    if wanted.user is not None:
        conditions.append(or_(*(each == wanted.user for each in (_R.PRINCIPAL, _R.USER_NAME, _R.VIA))))
    if wanted.denied:
        conditions.append(~_R.ALLOWED)
    return conditions


def _is_about(name: Sequence[str]) -> ColumnElement[bool]:
    """Whether a row names the object, what it is in, or what is in it."""
    catalog, database, *table = (_cut(part, _MOST_NAME_CHARACTERS) for part in name)
    inside = [_O.TBL_NAME.in_(("", *table))] if table else []
    return and_(_O.CAT_NAME == catalog, or_(and_(_O.DB_NAME == database, *inside), _O.DB_NAME == ""))


def _record(row: Any) -> AuditRecord:
    return AuditRecord(
        time_ms=row.AT,
        worker=row.WORKER,
        connection=row.CONNECTION_ID,
        address=row.ADDRESS,
        principal=row.PRINCIPAL,
        mechanism=row.MECHANISM,
        user=row.USER_NAME,
        call=row.CALL_NAME,
        objects=tuple(json.loads(row.OBJECTS)),
        allowed=row.ALLOWED,
        rule=row.RULE_NUMBER,
        outcome=row.OUTCOME,
        via=row.VIA,
    )

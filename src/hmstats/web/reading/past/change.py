"""The changes of a table's statistics between two times, and those of a restore."""

import time
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from math import isfinite, isinf

from hmstats.client import Metastore
from hmstats.client.naming import named_table
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import Column, Table, TableName
from hmstats.model.spark.spark_schema import data_columns
from hmstats.outlets.people import changes as compare
from hmstats.outlets.people.times import past_ms, utc_text
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.history import Change, ChangedColumn, Difference, RestoreResult
from hmstats.web.reading.columns.column_answers import AnswerSizes
from hmstats.web.reading.columns.column_numbers import column_facts
from hmstats.web.reading.columns.found_columns import read_columns
from hmstats.web.reading.columns.histograms import PARTS_OF_A_PICTURE
from hmstats.web.reading.existing import shown_name
from hmstats.web.reading.moments import moment
from hmstats.web.reading.parts import read_part
from hmstats.web.reading.selections import Selection

MOST_CHANGES = 500
MOST_PICTURES = 8
_PICTURE = AnswerSizes(PARTS_OF_A_PICTURE, 5)


def table_difference(service: Metastore, text: str, begin: str | None = None, end: str | None = None) -> Difference:
    """The changes beyond the stated errors; `begin` is before the last write by default, `end` now.

    Raises StatementError for a text that is no time, CallRefused when the table did not exist then.
    """
    name, now = named_table(text), time.time()
    begin_ms = service.past.before_last_ms(name) if begin is None else past_ms("from", begin, now)
    before = service.past.past_of_all(name, begin_ms)
    after = service.past.past_of_all(name, None if end is None else past_ms("to", end, now))
    found = compare.changes(before, after)
    return Difference(
        table=shown_name(name),
        begin=moment(before.at_ms),
        end=moment(after.at_ms),
        changed=len(found),
        changes=tuple(change_of(each) for each in found[:MOST_CHANGES]),
        columns=_columns(service, name, found, before.at_ms, after.at_ms),
    )


def restored(
    service: Metastore, text: str, as_of: str, *, dry_run: bool, if_version: int | None = None
) -> RestoreResult:
    """Write the statistics of a time again; with `dry_run` only count what would change.

    Raises StatementError for a text that is no time, CallRefused when there is nothing to restore, or it is locked.
    """
    at_ms = past_ms("as_of", as_of, time.time())
    done = service.past.restore(named_table(text), at_ms, dry_run=dry_run, if_version=if_version)
    return RestoreResult(
        table=shown_name(done.table),
        at=moment(done.at_ms),
        done=not dry_run,
        written=done.written,
        removed=done.removed,
        parameters=done.parameters,
        unmarked=done.unmarked,
    )


def _columns(
    service: Metastore, name: TableName, found: Sequence[compare.Change], begin_ms: int, end_ms: int
) -> tuple[ChangedColumn, ...]:
    """The first columns that changed, as they were at both times."""
    names = list(dict.fromkeys(each.number.column for each in found if each.number.column))[:MOST_PICTURES]
    table = service.find_table(name) if names else None
    if table is None:
        return ()
    columns = [each for each in data_columns(table) if each.name.lower() in {one.lower() for one in names}]
    before, after = (_facts(service, table, columns, at_ms) for at_ms in (begin_ms, end_ms))
    return tuple(
        ChangedColumn(name=each.name, before=before.get(each.name), after=after.get(each.name)) for each in columns
    )


def _facts(service: Metastore, table: Table, columns: Sequence[Column], at_ms: int) -> dict[str, ColumnFacts]:
    """The columns as they were; nothing when the table was not there."""
    try:
        part = read_part(service, table, Selection(as_of=utc_text(at_ms)), columns)
    except CallRefused as error:
        if not error.is_missing:
            raise
        return {}
    known = read_columns(service, part, columns, _PICTURE)
    return {each.name: column_facts(each, known[each.name.lower()], bins=16) for each in columns}


def change_of(each: compare.Change) -> Change:
    """A change as answers have it."""
    number = each.number
    return Change(
        partition=each.partition or None,
        engine=each.engine or None,
        column=number.column,
        statistic=number.statistic,
        before=_value(number.left),
        after=_value(number.right),
        factor=None if isinf(each.size) else each.size,
    )


def _value(value: object) -> bool | int | float | str | None:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, date | datetime) else str(value)

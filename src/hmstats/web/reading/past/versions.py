"""The writes of a table, and how its numbers went from one to the next."""

from collections.abc import Iterator

from hmstats.client import Metastore
from hmstats.client.naming import named_table
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import Column, Table, TableName
from hmstats.model.statistics.history import History, PastWrite
from hmstats.model.statistics.provenance import Provenance
from hmstats.web.answers.history import Course, Moment, Version, Versions
from hmstats.web.reading.as_of import past_table
from hmstats.web.reading.columns.column_answers import NOTHING
from hmstats.web.reading.columns.column_numbers import Found, column_facts
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import existing_column, existing_table, shown_name
from hmstats.web.reading.moments import moment, moment_of

PAGE_VERSIONS = 25
MOST_MOMENTS = 24
_MOST_WRITES = 1_000


def table_versions(
    service: Metastore, text: str, column: str | None = None, *, after: str | None = None, limit: int = PAGE_VERSIONS
) -> Versions:
    """The writes of the table named as `[CATALOG.]DB.TABLE`, newest first, from the one after the cursor on.

    A table that was dropped has a history too. Raises CallRefused when nothing is known of it, StatementError for a
    cursor that is none.
    """
    name = named_table(text)
    found = service.past.history(name, column, _MOST_WRITES)
    begin = None if after is None else moment_of(parts_of(after, 1)[0])
    rest = [each for each in found.writes if begin is None or each.at_ms < begin]
    page = rest[:limit]
    return Versions(
        table=shown_name(name),
        column=column,
        versions=tuple(_version(each) for each in page),
        next=cursor(str(page[-1].at_ms)) if len(rest) > limit else None,
    )


def table_course(service: Metastore, text: str, column: str | None = None, *, limit: int = MOST_MOMENTS) -> Course:
    """The course of a table's rows and bytes, and of a column's numbers, over its last writes.

    Raises NoSuchObject when the table or the column is not there now.
    """
    table = existing_table(service, text)
    of = None if column is None else existing_column(table, column)
    history = service.past.history(table.name, None if of is None else of.name, limit)
    moments = tuple(_moment(service, table, of, at_ms) for at_ms in _times(table.name, history))
    return Course(
        table=shown_name(table.name),
        column=None if of is None else of.name,
        moments=moments,
        oldest=moment(history.oldest_ms),
        history_bytes=history.size_bytes,
    )


def _times(name: TableName, history: History) -> Iterator[int]:
    """The time before the first of the writes, if it is still known, then that of each, oldest first."""
    own = [each.at_ms for each in reversed(history.writes) if each.table == name and "dropped" not in each.kinds]
    if own and own[0] - 1 >= history.oldest_ms:
        yield own[0] - 1
    yield from own


def _moment(service: Metastore, table: Table, column: Column | None, at_ms: int) -> Moment:
    wanted = [] if column is None else [column.name]
    try:
        stored, counts, _ = past_table(service, table, at_ms, wanted)
    except CallRefused as error:
        if not error.is_missing:
            raise
        return Moment(at=moment(at_ms))  # the table was made later
    facts = None
    if column is not None:
        own = next(iter(stored.statistics.columns), None)
        made = (own.provenance if own else None) or Provenance()
        facts = column_facts(column, Found(own, NOTHING, made, made.written_at_seconds), bins=1)
    return Moment(at=moment(at_ms), rows=counts.rows, size_bytes=counts.size_bytes, column=facts)


def _version(each: PastWrite) -> Version:
    return Version(
        at=moment(each.at_ms),
        table=shown_name(each.table),
        kinds=each.kinds,
        writer=each.writer,
        call=each.call,
        columns=each.columns,
        partitions=each.partitions,
    )

"""A table, or a selection of its partitions, with a page of its columns."""

from collections.abc import Sequence

from hmstats.client import Metastore
from hmstats.errors import StatementError
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.spark.spark_schema import data_columns
from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.tables import Key, TableFacts
from hmstats.web.reading.columns.column_answers import AnswerSizes
from hmstats.web.reading.columns.column_numbers import column_facts
from hmstats.web.reading.columns.found_columns import read_columns, read_keys
from hmstats.web.reading.columns.histograms import PARTS_OF_A_PICTURE
from hmstats.web.reading.counts import count_number
from hmstats.web.reading.cursors import cursor, parts_of
from hmstats.web.reading.existing import existing_table, shown_name
from hmstats.web.reading.lists.health_list import health_of
from hmstats.web.reading.locks import locks_of
from hmstats.web.reading.moments import moment
from hmstats.web.reading.parts import Part, read_part
from hmstats.web.reading.selections import Selection

PAGE_COLUMNS = 25
_PICTURE_BINS = 16
_PICTURE = AnswerSizes(PARTS_OF_A_PICTURE, 5)


def table_facts(
    service: Metastore, text: str, selection: Selection, *, after: str | None = None, limit: int = PAGE_COLUMNS
) -> TableFacts:
    """The table named as `[CATALOG.]DB.TABLE`, with at most `limit` columns from the cursor on.

    The partition keys come with the last ones. Raises NoSuchObject when table or partitions are not there,
    StatementError for an invalid filter or cursor.
    """
    table = existing_table(service, text)
    every, begin = data_columns(table), _begin(after)
    page = every[begin : begin + limit]
    part = read_part(service, table, selection, page)
    found = read_columns(service, part, page, _PICTURE)
    columns = [column_facts(each, found[each.name.lower()], bins=_PICTURE_BINS) for each in page]
    is_last = begin + limit >= len(every)
    if is_last:
        keys = zip(table.partition_keys, read_keys(service, part), strict=True)
        columns += [column_facts(key, of_key, bins=_PICTURE_BINS, is_key=True) for key, of_key in keys]
    return _facts(service, part, columns, None if is_last else cursor(str(begin + limit)), len(every))


def _facts(
    service: Metastore, part: Part, columns: Sequence[ColumnFacts], after: str | None, column_count: int
) -> TableFacts:
    table = part.stored.table
    locks = locks_of(service, table)
    return TableFacts(
        table=shown_name(table.name),
        database=table.name.database,
        name=table.name.table,
        type=table.table_type,
        owner=table.owner,
        location=table.storage.location if table.storage else None,
        as_of=None if part.at_ms is None else moment(part.at_ms),
        hmstats=service.may_be_hmstats,
        rows=part.counts.rows,
        size_bytes=part.counts.size_bytes,
        files=part.counts.files,
        partitions=count_number(part.partitions, exact=True),
        partition_keys=tuple(Key(name=each.name, type=each.type) for each in table.partition_keys),
        selection=part.said,
        health=health_of(service, table.name) if part.said is None and part.at_ms is None else None,
        lock=locks.whole,
        locked_parts=sum(1 for each in locks.locks if each.partition is not None or each.columns),
        written_at=min((each.written_at for each in columns if each.written_at), default=None),
        column_count=column_count,
        columns=tuple(columns),
        next=after,
    )


def _begin(after: str | None) -> int:
    if after is None:
        return 0
    (text,) = parts_of(after, 1)
    begin = row_count(text)
    if begin is None:
        raise StatementError(f"a cursor must be taken from the answer before, found {after[:60]!r}")
    return begin

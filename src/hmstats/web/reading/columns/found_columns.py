"""Reads everything that is known of columns: stored statistics, merged answers, and their provenance.

The calls are as many for one column as for many, and as many for one partition as for all; a selection of partitions
takes three more for each column.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from hmstats.client import Metastore
from hmstats.client.tables.merged_statistics import MergedAnswers, merged_columns, staleness
from hmstats.errors import UnknownCall
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.describe.column import key_statistics
from hmstats.web.reading.columns.column_answers import NOTHING, AnswerSizes, fill_in, of_calls, of_sketches
from hmstats.web.reading.columns.column_numbers import Found
from hmstats.web.reading.columns.histograms import fractions
from hmstats.web.reading.partition_order import MANY, MOST_KEPT, Ordered, in_order
from hmstats.web.reading.parts import Part

_MOST_PROVENANCES = 20_000
"""Provenances, one of each partition and column, that are read for one answer."""
_UNKNOWN = Provenance()


def read_columns(service: Metastore, part: Part, page: Sequence[Column], wanted: AnswerSizes) -> Mapping[str, Found]:
    """Read what is known of each of these columns, by its name in lower case."""
    stored = {each.column.lower(): each for each in part.stored.statistics.columns}
    if part.at_ms is not None:
        found = _of_past(part, stored, wanted)
    elif part.names is not None:
        found = _of_selection(service, part, stored, wanted)
    else:
        found = _of_whole(service, part, wanted)
    nothing = Found(None, NOTHING, _UNKNOWN)
    return {each.name.lower(): found.get(each.name.lower(), nothing) for each in page}


def read_keys(service: Metastore, part: Part) -> list[Found]:
    """Read the statistics of the partition keys, in their order, from the values of the partitions."""
    keys = part.stored.table.partition_keys
    if not keys:
        return []
    names = part.every_name if part.names is None else part.names
    if names is None:
        names = service.partition_names(part.stored.table.name)
    placed = in_order(part.stored.table, names)
    return list((_of_keys if len(placed) < MANY else _of_keys_cached)(keys, placed))


def _of_keys(keys: tuple[Column, ...], placed: Ordered) -> tuple[Found, ...]:
    exact = Provenance(exact=True, sample_fraction=1.0)
    values = zip(*(each.values for each in placed), strict=True) if placed else [()] * len(keys)
    return tuple(Found(key_statistics(*each), NOTHING, exact) for each in zip(keys, values, strict=True))


_of_keys_cached = lru_cache(maxsize=MOST_KEPT)(_of_keys)


def _of_whole(service: Metastore, part: Part, wanted: AnswerSizes) -> dict[str, Found]:
    """The table's own statistics, or those of all partitions merged by the server."""
    merged = merged_columns(service, part.stored, fractions(wanted.parts), wanted.frequent)
    made = _provenance_of(service, part, [*merged])
    found = {}
    for column in part.stored.statistics.columns:
        answers = fill_in(of_sketches(column, wanted), merged.get(column.column, NOTHING))
        source = column.provenance or made.get(column.column, _UNKNOWN)
        seconds = (
            source.written_at_seconds or answers.written_at_seconds or part.stored.statistics.last_analyzed_seconds
        )
        found[column.column.lower()] = Found(column, answers, source, seconds, staleness(column, part.stored, merged))
    return found


def _of_selection(
    service: Metastore, part: Part, stored: Mapping[str, ColumnStatistics], wanted: AnswerSizes
) -> dict[str, Found]:
    """The statistics of the selected partitions, merged for this answer."""
    made = _provenance_of(service, part, [each.column for each in stored.values()])
    found = {}
    for name, column in stored.items():
        answers: MergedAnswers = of_calls(service, part.stored.table.name, column, part.names or (), wanted)
        source = made.get(column.column, _UNKNOWN)
        found[name] = Found(column, fill_in(of_sketches(column, wanted), answers), source, source.written_at_seconds)
    return found


def _of_past(part: Part, stored: Mapping[str, ColumnStatistics], wanted: AnswerSizes) -> dict[str, Found]:
    """The statistics of a time, with what their sketches say."""
    found = {}
    for name, column in stored.items():
        source = column.provenance or _UNKNOWN
        stale = staleness(column, part.stored, {})
        found[name] = Found(column, of_sketches(column, wanted), source, source.written_at_seconds, stale)
    return found


def _provenance_of(service: Metastore, part: Part, columns: Sequence[str]) -> Mapping[str, Provenance]:
    """The provenance of the merged statistics of these columns; empty if unknown, or of too many partitions."""
    partitions = part.partitions or 0
    if not columns or partitions * len(columns) > _MOST_PROVENANCES:
        return {}
    try:
        every = service.provenance(part.stored.table.name, columns, part.names or [])
    except UnknownCall:
        return {}
    by_column: dict[str, list[Provenance]] = {}
    for each in every:
        by_column.setdefault(each.column, []).append(each.provenance)
    return {name: _combine_provenance(some) for name, some in by_column.items() if len(some) == partitions}


def _combine_provenance(some: Sequence[Provenance]) -> Provenance:
    """The provenance of partitions together: their common fields, the least fraction of the rows, the oldest time."""
    samples = [each.sample_fraction for each in some]
    seconds = [each.written_at_seconds for each in some if each.written_at_seconds is not None]
    writers, tools = {each.writer for each in some}, {each.tool for each in some}
    return Provenance(
        sample_fraction=None if None in samples else min(each for each in samples if each is not None),
        writer=writers.pop() if len(writers) == 1 else None,
        tool=tools.pop() if len(tools) == 1 else None,
        written_at_seconds=min(seconds, default=None),
    )

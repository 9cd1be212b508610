"""A table, or what is selected of its partitions, as the metastore has it: counts and statistics of some columns."""

from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.client import Metastore
from hmstats.client.tables.stored_statistics import StoredStatistics, statistics_columns, stored_table
from hmstats.model.catalog.objects import Column, Table
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.web.answers.tables import Chosen
from hmstats.web.reading.as_of import past_partitions, past_table
from hmstats.web.reading.counts import Counts, counts_of, sums_of
from hmstats.web.reading.selections import Selection, describe_selection, select_partitions

MOST_PARTITIONS_READ = 1_000
"""Partitions whose own parameters are read for one answer; the counts of more are unknown."""


@dataclass(frozen=True, slots=True)
class Part:
    """`names` are those of the selected partitions, None for the whole table; `said` is what an answer says of them.

    `every_name` are those of all partitions, where they were read already.

    `partitions` is None for a table without partition keys. `at_ms` is the time that it is of, None for now.
    """

    stored: StoredStatistics
    names: Sequence[str] | None
    counts: Counts
    partitions: int | None
    said: Chosen | None = None
    at_ms: int | None = None
    every_name: Sequence[str] | None = None


def read_part(service: Metastore, table: Table, selection: Selection, page: Sequence[Column]) -> Part:
    """The statistics of these columns, of the whole table or of what is selected.

    Raises NoSuchObject when nothing is selected, StatementError for a filter that cannot be read.
    """
    able = {each.lower() for each in statistics_columns(table)}
    wanted = [each.name for each in page if each.name.lower() in able]
    at_ms = selection.as_of_ms
    if selection.is_all and at_ms is not None:
        past, counts, number = past_table(service, table, at_ms, wanted)
        return Part(past, None, counts, number, at_ms=at_ms)
    if selection.is_all:
        every = service.partition_names(table.name) if table.partition_keys else None
        stored = stored_table(service, table, wanted, every)
        number = None if every is None else len(every)
        return Part(stored, None, counts_of(stored.parameters), number, every_name=every)
    found = select_partitions(service, table, selection)
    names = [each.name for each in found]
    if at_ms is not None:
        past, counts, number = past_partitions(service, table, at_ms, wanted, names)
        return Part(past, names, counts, number, describe_selection(selection, found), at_ms)
    merged = service.aggregated_statistics(table.name, wanted, names)[0] if wanted else ()
    stored = StoredStatistics(table, {}, StatisticsSet(merged))
    return Part(stored, names, read_counts(service, table, names), len(names), describe_selection(selection, found))


def read_counts(service: Metastore, table: Table, names: Sequence[str]) -> Counts:
    """The sums of the partitions' own counts, unknown for more of them than are read."""
    if len(names) > MOST_PARTITIONS_READ:
        return Counts(None, None, None)
    return sums_of(each.parameters for each in service.partitions(table.name, names))

"""The history of a table's statistics: its writes, and what was restored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet


@dataclass(frozen=True, slots=True)
class PastWrite:
    """A write of statistics, at epoch ms. `table` is the name that the table had before it.

    `kinds` are columns, parameters, dropped, arrived (from another table) or renamed. `columns` are empty if all of
    them, or none, were written; `partitions` are empty if it was about the table itself.
    """

    at_ms: int
    table: TableName
    kinds: tuple[str, ...]
    writer: str | None = None
    call: str | None = None
    columns: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """The writes of a table, newest first; the oldest time that can be asked for; the bytes of the whole history."""

    writes: Sequence[PastWrite]
    oldest_ms: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PastStatistics:
    """Statistics of a table and of its partitions at epoch ms, and their parameters by partition ("": the table)."""

    at_ms: int
    sets: Sequence[StatisticsSet]
    parameters: Mapping[str, Parameters]


@dataclass(frozen=True, slots=True)
class Restored:
    """The changes of a restore to epoch ms, made or, in a dry run, planned.

    Counts are of columns' statistics of the table and of each partition, and of tables and partitions whose parameters
    changed. `unmarked` of these have lost their mark of accurate statistics, since their files have changed meanwhile.
    """

    table: TableName
    at_ms: int
    written: int
    removed: int
    parameters: int
    unmarked: int

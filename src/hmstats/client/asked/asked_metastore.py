"""The calls of a metastore that AskedTable needs; the client's Metastore has them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from hmstats.client.naming import AnyTable
from hmstats.model.catalog.objects import Partition, Table
from hmstats.model.statistics.answers import ColumnProvenance, DistinctCount, Quantiles
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.frequent_values import FrequentValues

Names = Sequence[str] | None
"""Names of partitions; None means the whole table."""


class AskedMetastore(Protocol):
    """The calls behind AskedTable. Each raises ServiceUnavailable and CallRefused."""

    def partition_names(self, table: AnyTable, values: Sequence[str] = ()) -> list[str]:
        """The names of a table's partitions that have these values of the first keys."""

    def partition_names_by_filter(self, table: Table, where: str) -> list[str]:
        """The names of a table's partitions that match a filter."""

    def partitions(self, table: AnyTable, names: Iterable[str]) -> Iterator[Partition]:
        """The named partitions; a name without a partition is skipped."""

    def table_statistics(self, table: AnyTable, columns: Sequence[str]) -> tuple[ColumnStatistics, ...]:
        """The statistics of these columns of a table."""

    def aggregated_statistics(
        self, table: AnyTable, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[tuple[ColumnStatistics, ...], int]:
        """The statistics of these columns over the named partitions, and how many partitions had them all."""

    def distinct_count(self, table: AnyTable, column: str, partitions: Names = None) -> DistinctCount:
        """How many distinct values a column has."""

    def quantiles(
        self, table: AnyTable, column: str, fractions: Sequence[float], partitions: Names = None
    ) -> Quantiles:
        """The values below which these fractions of a column's values lie."""

    def top_k(self, table: AnyTable, column: str, k: int = 10, partitions: Names = None) -> FrequentValues:
        """A column's most frequent values."""

    def provenance(self, table: AnyTable, columns: Names = None, partitions: Names = None) -> list[ColumnProvenance]:
        """Where the statistics of these columns come from."""

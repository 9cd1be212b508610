"""A table that answers questions from its stored statistics, without reading data.

visits = metastore.table("web.visits") visits.quantile("age", [0.25, 0.5, 0.75], where="ds >= '2024-01-01'")
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from hmstats.client.asked.asked_metastore import AskedMetastore
from hmstats.client.asked.partition_names import existing_names
from hmstats.errors import CallRefused, MissingStatistics, StatementError, UnknownCall
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_name, values_of_names
from hmstats.model.catalog.objects import Column, Parameters, Table
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.row_counts import known_rows
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.answers import Bounds, DistinctCount, Quantiles, RowCount
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.frequent_values import FrequentValues
from hmstats.model.statistics.provenance import Provenance, tools_that_counted
from hmstats.model.statistics.python_values import python_value
from hmstats.outlets.describe.column import key_statistics
from hmstats.outlets.people.cells import headline
from hmstats.outlets.people.view import View

_MISSING = "MissingStatisticsException"
_WRONG = ("InvalidInputException", "MetaException", "InvalidOperationException")
"""The exceptions of a metastore for an invalid question or filter."""
Partitions = Sequence[str] | None
Answer = TypeVar("Answer")


class AskedTable:
    """Questions about a table or some of its partitions, answered from stored statistics.

    `partitions` are names as key=value/key=value, `where` is a filter over the partition keys in Hive's language; one
    of them at most. Every method raises MissingStatistics, with the statement that would compute what is missing,
    StatementError for unknown partitions and columns, and ServiceError.
    """

    def __init__(self, metastore: AskedMetastore, table: Table) -> None:
        self._metastore = metastore
        self.table = table

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        return self._view().html()

    def _view(self) -> View:
        """The table's own counts and its columns, without a call to the metastore."""
        columns = [(each.name, each.type, "") for each in self.table.columns]
        keys = [(each.name, each.type, "partition key") for each in self.table.partition_keys]
        return View(headline(self._shown, self.table.parameters), ("Column", "Type", ""), [*columns, *keys])

    def quantile(
        self, column: str, fractions: Sequence[float], partitions: Partitions = None, where: str | None = None
    ) -> Quantiles:
        """The values below which these fractions of a column's values lie, as values of its type."""
        of = self.column(column)
        found = self._ask_metastore(self._metastore.quantiles, of, partitions, where, fractions)
        of_type = partial(python_value, kind_of(of.type))
        values, low, high = (tuple(map(of_type, each)) for each in (found.values, found.low, found.high))
        return replace(found, values=values, low=low, high=high)

    def top(self, column: str, k: int = 10, partitions: Partitions = None, where: str | None = None) -> FrequentValues:
        """A column's most frequent values, as values of its type."""
        of = self.column(column)
        found = self._ask_metastore(self._metastore.top_k, of, partitions, where, k)
        kind = kind_of(of.type)
        return replace(
            found, values=tuple(replace(each, value=python_value(kind, each.value)) for each in found.values)
        )

    def distinct(self, column: str, partitions: Partitions = None, where: str | None = None) -> DistinctCount:
        """How many distinct values a column has."""
        return self._ask_metastore(self._metastore.distinct_count, self.column(column), partitions, where)

    def count(self, partitions: Partitions = None, where: str | None = None) -> RowCount:
        """How many rows there are."""
        names = self.partition_names(partitions, where)
        if names is None and not self.table.partition_keys:
            return self._sum({"": self.table.parameters})
        keys = [key.name for key in self.table.partition_keys]
        every = self._metastore.partition_names(self.table.name) if names is None else names
        found = self._metastore.partitions(self.table.name, every)
        return self._sum({partition_name(keys, each.values): each.parameters for each in found})

    def bounds(self, column: str, partitions: Partitions = None, where: str | None = None) -> Bounds:
        """The least and the greatest value of a column, as values of its type."""
        found, names = self.column(column), self.partition_names(partitions, where)
        keys = [key.name for key in self.table.partition_keys]
        if keys and names is None:
            names = self._metastore.partition_names(self.table.name)
        if found.name in keys:
            place = keys.index(found.name)
            values = [each[place] for each in values_of_names([*(names or ())], keys)]
            of_key = key_statistics(found, values)
            _check_bounded(column, of_key and of_key.data)
            data: Any = of_key and of_key.data
            if data.low is None and set(values) - {NULL_PARTITION_VALUE}:
                raise StatementError(
                    f"partition key {column} of {self._shown} has no bounds: not every value of it is of the type "
                    f"{found.type}"
                )
            return self._bounds(found, data.low, data.high, exact=True)
        data = self._statistics(found, names).data
        _check_bounded(column, data)
        return self._bounds(found, data.low, data.high, exact=self._are_of_all_rows(found.name, names))

    def tools(self, column: str, partitions: Partitions = None, where: str | None = None) -> tuple[str, ...]:
        """The programs that made a column's statistics, with the version of a lakehouse table that each has read.

        Empty if the metastore does not tell, and for a partition key.
        """
        found, names = self.column(column), self.partition_names(partitions, where)
        made = self._provenances([found.name], names) if found not in self.table.partition_keys else []
        return tuple(dict.fromkeys(each.tool for each in made if each.tool))

    def tools_of_count(self, count: RowCount) -> tuple[str, ...]:
        """The programs that counted the rows of the whole table; empty if unknown, or if it has partitions."""
        return () if self.table.partition_keys else tools_that_counted(count.count, self._provenances(None, None))

    def column_type(self, column: str) -> str:
        """The Hive type of a column or a partition key. Raises StatementError when there is none of this name."""
        return self.column(column).type

    def _bounds(self, column: Column, low: Any, high: Any, *, exact: bool | None) -> Bounds:
        low, high = (None if each is None else python_value(kind_of(column.type), each) for each in (low, high))
        return Bounds(low, high, exact)

    def _ask_metastore(
        self, question: Callable[..., Answer], column: Column, partitions: Partitions, where: str | None, *more: object
    ) -> Answer:
        names = self.partition_names(partitions, where)
        if names is not None and not names:
            raise StatementError(f"no partition of {self._shown} is asked about")
        with _translate_refusals():
            return question(self.table.name, column.name, *more, partitions=names)

    def _statistics(self, column: Column, names: Sequence[str] | None) -> ColumnStatistics:
        if names is None:
            found, whole = self._metastore.table_statistics(self.table.name, [column.name]), True
        else:
            found, count = self._metastore.aggregated_statistics(self.table.name, [column.name], names)
            whole = count == len(names)
        if not found or not whole:
            statement = f"{self._analyze} FOR COLUMNS {column.name}"
            raise MissingStatistics(f"{self._shown} has no statistics of column {column.name} in whole: {statement}")
        return found[0]

    def _are_of_all_rows(self, column: str, names: Sequence[str] | None) -> bool | None:
        """Whether the statistics are of all rows; None if the metastore does not tell."""
        seen = [each.sample_fraction for each in self._provenances([column], names)]
        return None if not seen or None in seen else all(part == 1 for part in seen)

    def _provenances(self, columns: Sequence[str] | None, names: Sequence[str] | None) -> list[Provenance]:
        """The provenance of columns (None: all) of the table or of partitions; none if the metastore does not tell."""
        try:
            return [each.provenance for each in self._metastore.provenance(self.table.name, columns, names)]
        except UnknownCall:
            return []

    def _sum(self, parameters: dict[str, Parameters]) -> RowCount:
        counts = {name: known_rows(each) for name, each in parameters.items()}
        unknown = [name for name, count in counts.items() if count is None]
        if unknown:
            where = f"partition {unknown[0]} of table {self._shown}" if unknown[0] else f"table {self._shown}"
            raise MissingStatistics(f"{where} has no number of rows: {self._analyze}")
        exact = all(Accurate.parse(each.get(PARAMETER)).basic for each in parameters.values())
        return RowCount(sum(count or 0 for count in counts.values()), exact)

    def partition_names(self, partitions: Partitions = None, where: str | None = None) -> list[str] | None:
        """The stored names of the requested partitions, None for the whole table."""
        keys = [key.name for key in self.table.partition_keys]
        if partitions is None and where is None:
            return None
        if not keys or (partitions is not None and where is not None):
            problem = "has no partitions" if not keys else "takes names of partitions or a filter, not both"
            raise StatementError(f"{self._shown} {problem}")
        if where is not None:
            with _translate_refusals():
                return self._metastore.partition_names_by_filter(self.table, where)
        return existing_names(self._metastore, self.table, partitions or ())

    def column(self, column: str) -> Column:
        """A column or a partition key, whatever the case of its name. Raises StatementError when there is none."""
        every = (*data_columns(self.table), *self.table.partition_keys)
        found = next((each for each in every if each.name.lower() == column.lower()), None)
        if found is None:
            names = ", ".join(each.name for each in every)
            raise StatementError(f"column {column} must be one of {self._shown}: {names}")
        return found

    @property
    def _shown(self) -> str:
        return self.table.name.typed

    @property
    def _analyze(self) -> str:
        keys = ", ".join(key.name for key in self.table.partition_keys)
        spec = f" PARTITION ({keys})" if keys else ""
        return f"ANALYZE TABLE {self._shown}{spec} COMPUTE STATISTICS"


def _check_bounded(column: str, data: Any) -> None:
    """Raise StatementError unless statistics are of a kind that has bounds."""
    if not hasattr(data, "low"):
        raise StatementError(f"column {column} has bounds only if its values are numbers, dates or times")


@contextmanager
def _translate_refusals() -> Iterator[None]:
    """Turns the metastore's refusals into MissingStatistics or StatementError with its message."""
    try:
        yield
    except CallRefused as error:
        if error.kind == _MISSING:
            raise MissingStatistics(error.message) from error
        if error.kind in _WRONG:
            raise StatementError(error.message) from error
        raise

"""All statistics of a table, of one of its partitions, or of a result that is neither."""

from dataclasses import dataclass, field

from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """Rows and columns' statistics, and the columns that they count from.

    `statistics.partition` is None for a table and for a result; a result has no `name`. `columns` are the data columns
    in their order, those without statistics too. `rows_exact`: the number of rows is known to be right.
    """

    name: TableName | None = None
    columns: tuple[Column, ...] = ()
    statistics: StatisticsSet = field(default=StatisticsSet(()))
    rows: int | None = None
    rows_exact: bool = False

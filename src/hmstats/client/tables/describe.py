"""DESCRIBE of a table, a partition or a column, answered as text in Hive's layout.

The layout is that of org.apache.hadoop.hive.ql.ddl.table.info.desc.formatter.TextDescTableFormatter as the command line
shows it. docs/statistics/describe.md lists what differs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hmstats.client.asked.partition_names import existing_names
from hmstats.client.metastore import Metastore
from hmstats.errors import StatementError, UnknownCall
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import VIRTUAL_VIEW, Column, Parameters, Partition, Table
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.spark.spark_schema import spark_columns
from hmstats.model.statistics.column_statistics import ColumnStatistics
from hmstats.model.statistics.column_types import kind_of
from hmstats.outlets.describe.column import column_rows, key_statistics
from hmstats.outlets.describe.information import partition_information, table_information
from hmstats.outlets.describe.layout import EMPTY, HEADER, escape, join_lines, row, title
from hmstats.outlets.describe.statement import Describe, parse
from hmstats.outlets.describe.struct import partition_text, table_text

_SUMMED = ("numRows", "rawDataSize", "totalSize", "numFiles", "numFilesErasureCoded")
"""Parameters of a partitioned table that are the sums of its partitions'."""


def describe(metastore: Metastore, statement: str) -> str:
    """The answer to a DESCRIBE statement, with a line break at its end.

    Raises StatementError when the statement cannot be read or names what is not there; the metastore's errors too.
    """
    asked = parse(statement)
    table = metastore.existing_table(asked.table)
    target = _Target(metastore, asked, table)
    return join_lines(target.of_column(asked.column) if asked.column else target.of_table())


@dataclass
class _Target:
    """The table or partition that a statement is about."""

    metastore: Metastore
    asked: Describe
    table: Table
    partition_name: str | None = field(init=False, default=None)
    partition: Partition | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.asked.partition is not None:
            self.partition_name, self.partition = self._find(self.asked.partition)

    def of_table(self) -> list[str]:
        """The lines about the table or partition: columns, partition keys, and the requested details."""
        keys = self.table.partition_keys
        columns = self._columns() if self.asked.formatted else (*self._columns(), *keys)
        lines = [HEADER] if self.asked.formatted else []
        lines += [line for column in columns for line in _column_row(column)]
        if keys:
            lines += [EMPTY, title("# Partition Information"), HEADER]
            lines += [line for key in keys for line in _column_row(key)]
        if self.asked.formatted:
            lines += self._information()
        if self.asked.extended:
            lines += [EMPTY, self._detail()]
        return lines

    def of_column(self, name: str) -> list[str]:
        """The lines about a column or a partition key. Raises StatementError if there is none of this name."""
        column = self._column(name)
        if not self.asked.formatted:
            return [*_column_row(column), *_accurate_row(self.table.parameters, width=3)]
        found, parameters = self._statistics(column)
        return [*column_rows(replace(column, name=name), found), *_accurate_row(parameters, width=2)]

    @cached_property
    def parameters(self) -> Parameters:
        """The table's parameters, with the sums of its partitions' counts."""
        own = self.table.parameters
        if not self.table.partition_keys or self.table.table_type == VIRTUAL_VIEW:
            return own
        partitions = list(self.metastore.partitions(self.table.name, self._names))
        return {**_with_state(own, partitions), **_sums(partitions), "numPartitions": str(len(partitions))}

    @cached_property
    def _names(self) -> list[str]:
        return self.metastore.partition_names(self.table.name)

    def _find(self, spec: Mapping[str, str]) -> tuple[str, Partition]:
        keys = [key.name.lower() for key in self.table.partition_keys]
        if set(spec) != set(keys):
            raise StatementError(
                f"PARTITION must have a value for each partition key of {self.asked.table.typed} "
                f"({', '.join(keys) or 'it has none'}), found {', '.join(spec)}"
            )
        text = partition_name(keys, [spec[key] for key in keys])
        (name,) = existing_names(self.metastore, self.table, [text])
        found = next(self.metastore.partitions(self.table.name, [name]), None)
        if found is None:  # it was dropped just now
            raise StatementError(f"table {self.asked.table.typed} has no partition {name}")
        return name, found

    def _columns(self) -> Sequence[Column]:
        own = self.partition and self.partition.storage
        return spark_columns(own.columns if own else self.table.columns, self.table.parameters)

    def _column(self, name: str) -> Column:
        every = (*self._columns(), *self.table.partition_keys)
        found = next((column for column in every if column.name.lower() == name.lower()), None)
        if found is None:
            names = ", ".join(column.name for column in every)
            raise StatementError(f"column {name} must be one of table {self.asked.table.typed}: {names}")
        return found

    def _statistics(self, column: Column) -> tuple[ColumnStatistics | None, Parameters]:
        """The column's statistics, and the parameters that say whether they are accurate."""
        own = self.table.parameters
        places = [key.name for key in self.table.partition_keys]
        if self.partition_name is not None:
            return self._read_statistics(column, [self.partition_name]), own
        if column.name in places:
            values = _values(self.metastore, self.table, self._names, places.index(column.name))
            return key_statistics(column, values), _with_mark(own, column.name, accurate=True)
        if not places or kind_of(column.type) is None:
            return self._read_statistics(column, None), own
        found, partitions = self.metastore.aggregated_statistics(self.table.name, [column.name], self._names)
        accurate = partitions == len(self._names)
        return next(iter(found), None), _with_mark(own, column.name, accurate=accurate)

    def _read_statistics(self, column: Column, partitions: list[str] | None) -> ColumnStatistics | None:
        """The stored statistics, with their sketches if the metastore sends them."""
        if kind_of(column.type) is None:
            return None
        try:
            sets = self.metastore.statistics(self.table.name, [column.name], partitions)
            return next((each for found in sets for each in found.columns), None)
        except UnknownCall:
            if partitions is None:
                return next(iter(self.metastore.table_statistics(self.table.name, [column.name])), None)
            plain = self.metastore.partition_statistics(self.table.name, [column.name], partitions)
            return next((each for found in plain for each in found.columns), None)

    def _information(self) -> list[str]:
        if self.partition is not None:
            return partition_information(self.table, self.partition)
        return table_information(self.table, self.parameters)

    def _detail(self) -> str:
        if self.partition is not None:
            return f"Detailed Partition Information\t{partition_text(self.table.name, self.partition)}\t"
        text = escape(table_text(self.table, self.parameters), ascii_only=False)
        return f"Detailed Table Information\t{text}\t"


def _column_row(column: Column) -> list[str]:
    return row(column.name, column.type, column.comment or "")


def _accurate_row(parameters: Parameters, width: int) -> list[str]:
    text = parameters.get(PARAMETER)
    return [] if text is None else row(PARAMETER, escape(text, ascii_only=True), width=width)


def _sums(partitions: Sequence[Partition]) -> dict[str, str]:
    """The sum of each count over the partitions that have it."""
    sums: dict[str, int] = {}
    for partition in partitions:
        for name in _SUMMED:
            text = partition.parameters.get(name, "")
            if text.isdecimal():
                sums[name] = sums.get(name, 0) + int(text)
    return {name: str(count) for name, count in sums.items()}


def _with_state(own: Parameters, partitions: Sequence[Partition]) -> dict[str, str]:
    """The table's parameters; its counts are marked as accurate if those of every partition are."""
    accurate = Accurate.parse(own.get(PARAMETER))
    if all(Accurate.parse(each.parameters.get(PARAMETER)).basic for each in partitions):
        return {**own, PARAMETER: replace(accurate, basic=True).text()}
    return {name: value for name, value in own.items() if name != PARAMETER}


def _with_mark(own: Parameters, column: str, *, accurate: bool) -> dict[str, str]:
    """The parameters, with the column among the accurate ones or not."""
    before = Accurate.parse(own.get(PARAMETER))
    if not accurate and PARAMETER not in own:
        return dict(own)
    after = before.with_columns([column]) if accurate else before.without_columns([column])
    return {**own, PARAMETER: after.text()}


def _values(metastore: Metastore, table: Table, names: Sequence[str], place: int) -> list[str]:
    return [partition.values[place] for partition in metastore.partitions(table.name, names)]

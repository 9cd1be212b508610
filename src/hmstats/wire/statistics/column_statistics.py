"""Column statistics: Thrift structs <-> model, both directions side by side.

In: -1 in a count means unknown (Impala writes it) and becomes None; so does a required field that is absent. Out: every
required field is set. Unknown values become the sentinel that no engine refuses: numNulls -1, which Trino and Impala
read as unknown; numTrues 0 with numFalses -1, which Trino reads the same way; 0 for numDVs and lengths, where -1 makes
Trino and Presto fail the query.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    DEFAULT_ENGINE,
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    Data,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    Kind,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.wire.idl import hive_metastore
from hmstats.wire.statistics.decimals import decimal_from_thrift, decimal_to_thrift

_UNKNOWN = -1


def set_from_thrift(struct: Any, engine: str | None = None) -> tuple[TableName, StatisticsSet]:
    """The table and its statistics in a ColumnStatistics struct; the struct's engine wins over the request's.

    Raises InvalidInput when the descriptor, a name or a column's data is missing or ambiguous.
    """
    description = struct.statsDesc
    if description is None:
        raise InvalidInput("column statistics must have a statsDesc that names their table, found none")
    name = table_name(
        _text(description.dbName, "statsDesc.dbName"),
        _text(description.tableName, "statsDesc.tableName"),
        description.catName,
    )
    if struct.statsObj is None:
        raise InvalidInput(f"column statistics of table {name} must have a list statsObj, found none")
    columns = tuple(column_from_thrift(each) for each in struct.statsObj)
    return name, StatisticsSet(columns, description.partName, struct.engine or engine or DEFAULT_ENGINE)


def reads_timestamp_statistics(engine: str | None) -> bool:
    """Whether a client that sends this engine reads timestampStats.

    Clients older than Hive 4 name none. Impala names itself, and reads a timestamp's statistics from longStats only.
    """
    return engine not in (None, "impala")


def set_to_thrift(
    name: TableName, statistics: StatisticsSet, *, hive4: bool, sketches: bool = False, stamp: bool = True
) -> Any:
    """The ColumnStatistics struct of a table's or a partition's statistics.

    `hive4`: the reader is of the Hive 4 generation and knows timestampStats. `stamp`: say when they were analysed.
    """
    description = hive_metastore.ColumnStatisticsDesc(
        isTblLevel=statistics.partition is None,
        dbName=name.database,
        tableName=name.table,
        partName=statistics.partition,
        lastAnalyzed=statistics.last_analyzed_seconds if stamp else None,
        catName=name.catalog,
    )
    return hive_metastore.ColumnStatistics(
        statsDesc=description,
        statsObj=columns_to_thrift(statistics.columns, hive4=hive4, sketches=sketches),
        engine=statistics.engine,
    )


def columns_to_thrift(columns: Iterable[ColumnStatistics], *, hive4: bool, sketches: bool = False) -> list[Any]:
    """The ColumnStatisticsObj structs of some columns."""
    return [column_to_thrift(column, hive4=hive4, sketches=sketches) for column in columns]


def column_from_thrift(struct: Any) -> ColumnStatistics:
    """One column's statistics. Raises InvalidInput unless name, type and exactly one kind of data are there."""
    name = _text(struct.colName, "colName")
    column_type = _text(struct.colType, f"colType of column {name}")
    data = struct.statsData
    members = [] if data is None else [item for item in vars(data).items() if item[1] is not None]
    if len(members) != 1:
        found = ", ".join(member for member, _ in members) or "none"
        raise InvalidInput(f"statistics of column {name} must have exactly one kind of data, found {found}")
    member, values = members[0]
    return ColumnStatistics(name.lower(), column_type.lower(), _READERS[member](values))


def column_to_thrift(column: ColumnStatistics, *, hive4: bool, sketches: bool = False) -> Any:
    """The ColumnStatisticsObj of one column; timestamps as longStats for a reader older than Hive 4."""
    kind = column.kind
    if kind is Kind.TIMESTAMP and not hive4:
        kind = Kind.LONG
    member = _WRITERS[kind](column.data)
    if sketches:
        _add_sketches(member, column.data)
    data = hive_metastore.ColumnStatisticsData(**{kind.value: member})
    return hive_metastore.ColumnStatisticsObj(colName=column.column, colType=column.column_type, statsData=data)


def _add_sketches(member: Any, data: Data) -> None:
    if not isinstance(data, BooleanStatistics | BinaryStatistics):
        member.bitVectors = data.bit_vector
    if not isinstance(data, BooleanStatistics | BinaryStatistics | StringStatistics):
        member.histogram = data.histogram


def _text(value: object, field: str) -> str:
    if not isinstance(value, str):
        found = "none" if value is None else "bytes that are not UTF-8"
        raise InvalidInput(f"{field} must be a text, found {found}")
    return value


def _count(value: int | None) -> int | None:
    return None if value == _UNKNOWN else value


def _or(value: float | None, sentinel: int) -> Any:
    return sentinel if value is None else value


def _read_boolean(struct: Any) -> BooleanStatistics:
    falses = _count(struct.numFalses)
    # Impala before 3.4 writes 1 and -1: neither is a count then.
    trues = None if falses is None else _count(struct.numTrues)
    return BooleanStatistics(trues=trues, falses=falses, nulls=_count(struct.numNulls))


def _write_boolean(data: BooleanStatistics) -> Any:
    known = data.trues is not None and data.falses is not None
    return hive_metastore.BooleanColumnStatsData(
        numTrues=data.trues if known else 0,
        numFalses=data.falses if known else _UNKNOWN,
        numNulls=_or(data.nulls, _UNKNOWN),
    )


def _read_string(struct: Any) -> StringStatistics:
    return StringStatistics(
        max_length=_count(struct.maxColLen),
        average_length=_count(struct.avgColLen),
        nulls=_count(struct.numNulls),
        ndv=_count(struct.numDVs),
        bit_vector=struct.bitVectors or None,
    )


def _write_string(data: StringStatistics) -> Any:
    return hive_metastore.StringColumnStatsData(
        maxColLen=_or(data.max_length, 0),
        avgColLen=_or(data.average_length, 0),
        numNulls=_or(data.nulls, _UNKNOWN),
        numDVs=_or(data.ndv, 0),
    )


def _read_binary(struct: Any) -> BinaryStatistics:
    return BinaryStatistics(
        max_length=_count(struct.maxColLen),
        average_length=_count(struct.avgColLen),
        nulls=_count(struct.numNulls),
    )


def _write_binary(data: BinaryStatistics) -> Any:
    return hive_metastore.BinaryColumnStatsData(
        maxColLen=_or(data.max_length, 0),
        avgColLen=_or(data.average_length, 0),
        numNulls=_or(data.nulls, _UNKNOWN),
    )


def _bounded_reader(data_class: Any, bound: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def read(struct: Any) -> Any:
        return data_class(
            low=None if struct.lowValue is None else bound(struct.lowValue),
            high=None if struct.highValue is None else bound(struct.highValue),
            nulls=_count(struct.numNulls),
            ndv=_count(struct.numDVs),
            bit_vector=struct.bitVectors or None,
            histogram=struct.histogram or None,
        )

    return read


def _bounded_writer(struct_class: Any, bound: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def write(data: Any) -> Any:
        return struct_class(
            lowValue=None if data.low is None else bound(data.low),
            highValue=None if data.high is None else bound(data.high),
            numNulls=_or(data.nulls, _UNKNOWN),
            numDVs=_or(data.ndv, 0),
        )

    return write


def _identity(value: Any) -> Any:
    return value


def _days(struct: Any) -> Any:
    return struct.daysSinceEpoch


def _seconds(struct: Any) -> Any:
    return struct.secondsSinceEpoch


_READERS: dict[str, Callable[[Any], Data]] = {
    Kind.BOOLEAN.value: _read_boolean,
    Kind.LONG.value: _bounded_reader(LongStatistics, _identity),
    Kind.DOUBLE.value: _bounded_reader(DoubleStatistics, _identity),
    Kind.STRING.value: _read_string,
    Kind.BINARY.value: _read_binary,
    Kind.DECIMAL.value: _bounded_reader(DecimalStatistics, decimal_from_thrift),
    Kind.DATE.value: _bounded_reader(DateStatistics, _days),
    Kind.TIMESTAMP.value: _bounded_reader(TimestampStatistics, _seconds),
}
_WRITERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.BOOLEAN: _write_boolean,
    Kind.LONG: _bounded_writer(hive_metastore.LongColumnStatsData, _identity),
    Kind.DOUBLE: _bounded_writer(hive_metastore.DoubleColumnStatsData, _identity),
    Kind.STRING: _write_string,
    Kind.BINARY: _write_binary,
    Kind.DECIMAL: _bounded_writer(hive_metastore.DecimalColumnStatsData, decimal_to_thrift),
    Kind.DATE: _bounded_writer(
        hive_metastore.DateColumnStatsData, lambda days: hive_metastore.Date(daysSinceEpoch=days)
    ),
    Kind.TIMESTAMP: _bounded_writer(
        hive_metastore.TimestampColumnStatsData, lambda seconds: hive_metastore.Timestamp(secondsSinceEpoch=seconds)
    ),
}


def sets_from_thrift(structs: Sequence[Any], engine: str | None) -> list[tuple[TableName, StatisticsSet]]:
    """Every ColumnStatistics of a request, with the request's engine as the default."""
    return [set_from_thrift(struct, engine) for struct in structs]

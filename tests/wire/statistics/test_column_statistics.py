"""The codec of column statistics: every kind there and back, sentinels, and what is refused."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import column_statistics
from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.transport.memory import TMemoryBuffer

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    DecimalStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.wire.idl import hive_metastore
from hmstats.wire.statistics.column_statistics import (
    column_from_thrift,
    column_to_thrift,
    set_from_thrift,
    set_to_thrift,
)
from hmstats.wire.statistics.decimals import decimal_from_thrift, decimal_to_thrift

TABLE = TableName("hive", "db", "t")


def over_the_wire(struct: Any) -> Any:
    """The struct after it was written and read again."""
    buffer = TMemoryBuffer()
    TBinaryProtocol(buffer).write_struct(struct)
    back = type(struct)()
    TBinaryProtocol(TMemoryBuffer(buffer.getvalue())).read_struct(back)
    return back


@given(column_statistics())
def test_every_kind_comes_back_as_it_went(column: ColumnStatistics) -> None:
    struct = over_the_wire(column_to_thrift(column, hive4=True, sketches=True))
    assert column_from_thrift(struct) == column


@given(column_statistics())
def test_sketches_stay_at_home_unless_asked_for(column: ColumnStatistics) -> None:
    struct = over_the_wire(column_to_thrift(column, hive4=True))
    data = column_from_thrift(struct).data
    assert getattr(data, "bit_vector", None) is None
    assert getattr(data, "histogram", None) is None


def test_an_older_reader_gets_the_seconds_of_a_timestamp_as_longs() -> None:
    column = ColumnStatistics("ts", "timestamp", TimestampStatistics(low=-5, high=7, nulls=1, ndv=2))
    assert column_to_thrift(column, hive4=True).statsData.timestampStats.lowValue.secondsSinceEpoch == -5
    older = column_to_thrift(column, hive4=False).statsData
    assert older.timestampStats is None
    assert (older.longStats.lowValue, older.longStats.highValue) == (-5, 7)


def test_unknown_leaves_as_what_no_engine_refuses() -> None:
    string = column_to_thrift(ColumnStatistics("s", "string", StringStatistics()), hive4=True).statsData.stringStats
    assert (string.numNulls, string.numDVs, string.maxColLen, string.avgColLen) == (-1, 0, 0, 0)
    boolean = column_to_thrift(ColumnStatistics("b", "boolean", BooleanStatistics()), hive4=True).statsData.booleanStats
    assert (boolean.numTrues, boolean.numFalses, boolean.numNulls) == (0, -1, -1)
    long = column_to_thrift(ColumnStatistics("l", "int", LongStatistics()), hive4=True).statsData.longStats
    assert (long.lowValue, long.highValue, long.numNulls, long.numDVs) == (None, None, -1, 0)


def test_minus_one_and_absent_arrive_as_unknown() -> None:
    data = hive_metastore.ColumnStatisticsData(longStats=hive_metastore.LongColumnStatsData(numNulls=-1))
    struct = hive_metastore.ColumnStatisticsObj(colName="L", colType="INT", statsData=data)
    assert column_from_thrift(struct) == ColumnStatistics("l", "int", LongStatistics())


def test_impalas_boolean_without_counts_arrives_as_unknown() -> None:
    boolean = hive_metastore.BooleanColumnStatsData(numTrues=1, numFalses=-1, numNulls=3)
    data = hive_metastore.ColumnStatisticsData(booleanStats=boolean)
    struct = hive_metastore.ColumnStatisticsObj(colName="b", colType="boolean", statsData=data)
    assert column_from_thrift(struct).data == BooleanStatistics(nulls=3)


@pytest.mark.parametrize(
    ("struct", "message"),
    [
        ({"colType": "int"}, "colName must be a text, found none"),
        ({"colName": "c"}, "colType of column c must be a text, found none"),
        ({"colName": b"\xff", "colType": "int"}, "colName must be a text, found bytes that are not UTF-8"),
        ({"colName": "c", "colType": "int"}, "column c must have exactly one kind of data, found none"),
    ],
)
def test_a_column_without_its_parts_is_refused(struct: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        column_from_thrift(hive_metastore.ColumnStatisticsObj(**struct))


def test_two_kinds_at_once_are_refused() -> None:
    data = hive_metastore.ColumnStatisticsData(
        longStats=hive_metastore.LongColumnStatsData(numNulls=0, numDVs=0),
        doubleStats=hive_metastore.DoubleColumnStatsData(numNulls=0, numDVs=0),
    )
    struct = hive_metastore.ColumnStatisticsObj(colName="c", colType="int", statsData=data)
    with pytest.raises(InvalidInput, match="exactly one kind of data, found longStats, doubleStats"):
        column_from_thrift(struct)


def test_a_set_carries_its_table_partition_engine_and_time() -> None:
    column = ColumnStatistics("c", "int", LongStatistics(low=1, high=2, nulls=0, ndv=2))
    sent = StatisticsSet((column,), "p=1", "impala", 123)
    struct = over_the_wire(set_to_thrift(TABLE, sent, hive4=True))
    assert struct.statsDesc.isTblLevel is False
    assert struct.statsDesc.lastAnalyzed == 123
    assert set_from_thrift(struct) == (TABLE, replace(sent, last_analyzed_seconds=None))


def test_the_sets_engine_wins_over_the_requests() -> None:
    struct = set_to_thrift(TABLE, StatisticsSet(()), hive4=True)
    struct.engine = None
    assert set_from_thrift(struct)[1].engine == "hive"
    assert set_from_thrift(struct, "impala")[1].engine == "impala"
    struct.engine = "trino"
    assert set_from_thrift(struct, "impala")[1].engine == "trino"


@pytest.mark.parametrize("field", ["statsDesc", "statsObj"])
def test_a_set_without_description_or_list_is_refused(field: str) -> None:
    struct = set_to_thrift(TABLE, StatisticsSet(()), hive4=True)
    setattr(struct, field, None)
    with pytest.raises(InvalidInput, match=field):
        set_from_thrift(struct)


@given(st.decimals(allow_nan=False, allow_infinity=False).filter(lambda value: abs(value.adjusted()) < 200))
def test_a_decimal_keeps_value_and_scale(value: Decimal) -> None:
    back = decimal_from_thrift(decimal_to_thrift(value))
    assert back == value
    assert back.as_tuple().exponent == value.as_tuple().exponent


def test_a_decimals_bytes_are_javas() -> None:
    assert decimal_to_thrift(Decimal("1.28")).unscaled == b"\x00\x80"
    assert decimal_to_thrift(Decimal("-1.28")).unscaled == b"\x80"
    assert decimal_to_thrift(Decimal(0)).unscaled == b"\x00"
    assert decimal_to_thrift(Decimal("5E+3")).scale == -3
    assert decimal_from_thrift(hive_metastore.Decimal(scale=0, unscaled=b"\x00\x00\x00\x03")) == 3


@pytest.mark.parametrize("unscaled", [b"", None, b"\x01" * 129])
def test_an_empty_or_absurd_decimal_is_refused(unscaled: bytes | None) -> None:
    with pytest.raises(InvalidInput, match="unscaled value must have 1 to 128 bytes"):
        decimal_from_thrift(hive_metastore.Decimal(scale=2, unscaled=unscaled))


@pytest.mark.parametrize("text", ["NaN", "Infinity"])
def test_a_decimal_bound_is_a_number(text: str) -> None:
    column = ColumnStatistics("d", "decimal(5,2)", DecimalStatistics(low=Decimal(text)))
    with pytest.raises(InvalidInput, match="finite"):
        column_to_thrift(column, hive4=True)

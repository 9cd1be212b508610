"""Results of statistics calls as bytes: byte for byte what thriftpy2 makes of the structs."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.strategies import column_statistics
from thriftpy2.protocol.cybin import TCyBinaryProtocol
from thriftpy2.transport import TCyMemoryBuffer

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    ColumnStatistics,
    DecimalStatistics,
    LongStatistics,
    StatisticsSet,
    TimestampStatistics,
)
from hmstats.model.statistics.flat_statistics import flat
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.statistics import statistics_bytes
from hmstats.wire.statistics.column_statistics import columns_to_thrift, set_to_thrift
from hmstats.wire.statistics.statistics_bytes import objects

COLUMNS = st.lists(column_statistics(), max_size=4)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def by_thriftpy2(method: str, success: Any) -> bytes:
    buffer = TCyMemoryBuffer()
    TCyBinaryProtocol(buffer).write_struct(methods()[method].result(success=success))
    encoded: bytes = buffer.getvalue()
    return encoded


@given(columns=COLUMNS, hive4=st.booleans(), sketches=st.booleans())
def test_a_tables_result(columns: list[ColumnStatistics], hive4: bool, sketches: bool) -> None:
    structs = columns_to_thrift(columns, hive4=hive4, sketches=sketches)
    expected = by_thriftpy2("get_table_statistics_req", api.TableStatsResult(tableStats=structs))
    encoded = objects(map(flat, columns), hive4=hive4, sketches=sketches)
    assert statistics_bytes.table_result(encoded) == expected


@given(partitions=st.dictionaries(NAMES, COLUMNS, max_size=4), hive4=st.booleans(), sketches=st.booleans())
def test_a_result_of_partitions(partitions: dict[str, list[ColumnStatistics]], hive4: bool, sketches: bool) -> None:
    structs = {name: columns_to_thrift(columns, hive4=hive4, sketches=sketches) for name, columns in partitions.items()}
    expected = by_thriftpy2("get_partitions_statistics_req", api.PartitionsStatsResult(partStats=structs))
    encoded = {
        name: objects(map(flat, columns), hive4=hive4, sketches=sketches) for name, columns in partitions.items()
    }
    assert statistics_bytes.partitions_result(encoded) == expected


@given(columns=COLUMNS, found=st.integers(0, 2**62))
def test_an_aggregate_result(columns: list[ColumnStatistics], found: int) -> None:
    structs = columns_to_thrift(columns, hive4=True)
    success = api.AggrStats(colStats=structs, partsFound=found)
    encoded = statistics_bytes.aggregate_result(objects(map(flat, columns), hive4=True), found)
    assert encoded == by_thriftpy2("get_aggr_stats_for", success)


@given(column=column_statistics(), partition=st.none() | NAMES, analyzed=st.none() | st.integers(0, 2**40))
def test_a_columns_result(column: ColumnStatistics, partition: str | None, analyzed: int | None) -> None:
    name = TableName("c", "d", "t")
    struct = set_to_thrift(name, StatisticsSet((column,), partition, "impala", analyzed), hive4=False)
    (encoded,) = objects([flat(column)], hive4=False)
    found = statistics_bytes.column_result(name, encoded, partition, analyzed, "impala")
    assert found == by_thriftpy2("get_partition_column_statistics", struct)


def test_one_column_of_two_types_has_two_heads() -> None:
    columns = [ColumnStatistics("c", kind, LongStatistics(ndv=1)) for kind in ("int", "bigint", "int")]
    columns += [ColumnStatistics("c", "timestamp", TimestampStatistics(low=1))]
    for hive4 in (True, False):
        structs = columns_to_thrift(columns, hive4=hive4)
        expected = by_thriftpy2("get_table_statistics_req", api.TableStatsResult(tableStats=structs))
        assert statistics_bytes.table_result(objects(map(flat, columns), hive4=hive4)) == expected


def test_a_decimal_that_is_no_number_is_refused() -> None:
    column = ColumnStatistics("c", "decimal(5,2)", DecimalStatistics(low=Decimal("NaN")))
    with pytest.raises(InvalidInput, match="must be a finite number"):
        objects([flat(column)], hive4=True)

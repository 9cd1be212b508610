"""The client against our server and real Hives: what is put comes back, and nothing else changes."""

from collections.abc import Iterator
from decimal import Decimal

import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.client.connection.batches import PARTITIONS_A_CALL
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import (
    BinaryStatistics,
    BooleanStatistics,
    ColumnStatistics,
    DateStatistics,
    DecimalStatistics,
    DoubleStatistics,
    LongStatistics,
    StatisticsSet,
    StringStatistics,
    TimestampStatistics,
)
from hmstats.model.statistics.column_types import kind_of

STATISTICS = (
    ColumnStatistics("b", "boolean", BooleanStatistics(trues=3, falses=4, nulls=1)),
    ColumnStatistics("l", "bigint", LongStatistics(low=-(2**63), high=2**63 - 1, nulls=0, ndv=8)),
    ColumnStatistics("d", "double", DoubleStatistics(low=-0.5, high=1e300, nulls=0, ndv=7)),
    ColumnStatistics("s", "string", StringStatistics(max_length=9, average_length=4.25, nulls=2, ndv=5)),
    ColumnStatistics("bin", "binary", BinaryStatistics(max_length=9, average_length=4.5, nulls=2)),
    ColumnStatistics("dec", "decimal(10,2)", DecimalStatistics(low=Decimal("-1.25"), high=Decimal(7), nulls=0, ndv=2)),
    ColumnStatistics("dt", "date", DateStatistics(low=-171_000, high=20_000, nulls=0, ndv=3)),
    ColumnStatistics("ts", "timestamp", TimestampStatistics(low=-5, high=1_600_000_000, nulls=8, ndv=1)),
)
COLUMNS = tuple(each.column for each in STATISTICS)


@pytest.fixture
def service(metastore: Metastore) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as connected:
        yield connected


@pytest.fixture
def name(metastore: Metastore) -> TableName:
    """An unpartitioned table."""
    return TableName("hive", metastore.database, metastore.table("t", parameters={"kept": "as it was"}))


@pytest.fixture
def partitioned(metastore: Metastore) -> TableName:
    """A table with two partitions."""
    metastore.table("p", keys=("year", "place"))
    metastore.add_partitions(("1994", "a/b"), ("1995", "ü"), table="p")
    return TableName("hive", metastore.database, "p")


def test_a_table_is_found(service: client.Metastore, name: TableName) -> None:
    found = service.find_table(name)
    assert found is not None
    assert [column.name for column in found.columns] == list(COLUMNS)
    assert service.find_table(TableName("hive", name.database, "absent")) is None


def test_a_table_is_the_same_alone_and_among_others(
    service: client.Metastore, name: TableName, partitioned: TableName
) -> None:
    together = {each.name: each for each in service.tables(name.database, [name.table, "absent", partitioned.table])}
    assert together.keys() == {name, partitioned}
    for each, found in together.items():
        assert [*service.tables(name.database, [each.table])] == [found]
    assert not [*service.tables(name.database, ["absent"])]


def test_statistics_of_every_kind_come_back(service: client.Metastore, name: TableName) -> None:
    for _ in range(2):
        service.put_table_statistics(name, StatisticsSet(STATISTICS))
    found = service.table_statistics(name, COLUMNS[::-1])
    assert [each.column for each in found] == list(COLUMNS[::-1])
    assert {each.column: as_own_kind(each) for each in found} == {each.column: each for each in STATISTICS}


def test_parameters_are_put_beside_others(service: client.Metastore, name: TableName) -> None:
    service.put_table_statistics(name, StatisticsSet(STATISTICS))
    before = parameters(service, name)
    service.put_table_parameters(name, {"numRows": "8", "totalSize": "12"})
    after = parameters(service, name)
    unsteady = ("transient_lastDdlTime",)
    assert {key: value for key, value in after.items() if key not in unsteady} == {
        **{key: value for key, value in before.items() if key not in unsteady},
        "numRows": "8",
        "totalSize": "12",
    }
    assert after["kept"] == "as it was"
    assert len(service.table_statistics(name, COLUMNS)) == len(COLUMNS)


def test_marks_of_counts_take_no_marks_of_columns_away(service: client.Metastore, name: TableName) -> None:
    of_columns = '{"COLUMN_STATS":{"l":"true"}}'
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": None})
    service.put_table_parameters(name, {"numRows": "8", "COLUMN_STATS_ACCURATE": of_columns})
    counts = {"numRows": "9", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    service.put_table_parameters(name, counts)
    found = parameters(service, name)["COLUMN_STATS_ACCURATE"]
    assert found == '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": "{}"})
    assert parameters(service, name)["COLUMN_STATS_ACCURATE"] == of_columns
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": None})
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": "{}"})
    assert "COLUMN_STATS_ACCURATE" not in parameters(service, name)


def test_partitions_have_statistics_and_parameters_of_their_own(
    service: client.Metastore, partitioned: TableName
) -> None:
    names = ["year=1994/place=a%2Fb", "year=1995/place=ü"]
    assert sorted(service.partition_names(partitioned)) == names
    counts = {name: {"numRows": str(rows)} for rows, name in enumerate(names)}
    service.put_partition_parameters(partitioned, ("year", "place"), {**counts, "year=1996/place=x": {"numRows": "9"}})
    sets = [StatisticsSet(STATISTICS[:3], names[0]), StatisticsSet(STATISTICS[1:4], names[1])]
    service.put_partition_statistics(partitioned, sets)
    found = {each.partition: each.columns for each in service.partition_statistics(partitioned, COLUMNS, names)}
    assert found == {each.partition: each.columns for each in sets}
    stored = {each.values: each.parameters["numRows"] for each in service.partitions(partitioned, names)}
    assert stored == {("1994", "a/b"): "0", ("1995", "ü"): "1"}


@pytest.mark.slow
def test_many_partitions_go_in_batches(service: client.Metastore, metastore: Metastore) -> None:
    metastore.table("many", {"l": "bigint"}, keys=("k",))
    values = [(f"{number:04d}",) for number in range(PARTITIONS_A_CALL + 5)]
    metastore.add_partitions(*values, table="many", columns={"l": "bigint"})
    many = TableName("hive", metastore.database, "many")
    names = [f"k={value}" for (value,) in values]
    sets = [
        StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=number, high=number, nulls=0, ndv=1)),), name)
        for number, name in enumerate(names)
    ]
    service.put_partition_statistics(many, sets)
    service.put_partition_parameters(many, ("k",), {name: {"numRows": "1"} for name in names})
    found = {each.partition: each.columns for each in service.partition_statistics(many, ["l"], names)}
    assert found == {each.partition: each.columns for each in sets}
    assert [each.parameters["numRows"] for each in service.partitions(many, names)] == ["1"] * len(names)


def test_statistics_of_a_column_that_is_not_there_are_refused(service: client.Metastore, name: TableName) -> None:
    unknown = ColumnStatistics("nope", "bigint", LongStatistics(nulls=0))
    with pytest.raises(CallRefused, match=r"set_(statistics|aggr_stats_for): "):
        service.put_table_statistics(name, StatisticsSet((unknown,)))


def parameters(service: client.Metastore, name: TableName) -> dict[str, str]:
    found = service.find_table(name)
    assert found is not None
    return dict(found.parameters)


def as_own_kind(statistics: ColumnStatistics) -> ColumnStatistics:
    """A timestamp's statistics as such: before Hive 4 they come as those of a long."""
    data = statistics.data
    if not isinstance(data, LongStatistics) or kind_of(statistics.column_type) is not kind_of("timestamp"):
        return statistics
    own = TimestampStatistics(low=data.low, high=data.high, nulls=data.nulls, ndv=data.ndv)
    return ColumnStatistics(statistics.column, statistics.column_type, own)

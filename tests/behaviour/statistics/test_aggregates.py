"""get_aggr_stats_for: statistics of many partitions together."""

from decimal import Decimal
from typing import Any

import pytest
from tests.behaviour.structs import TYPES, column_object, statistics, statistics_of
from tests.fixtures.metastores import HIVES, Metastore
from tests.sketch.vectors import of_longs

from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.decimals import decimal_from_thrift

PARTITIONS = [f"k=p{number}" for number in range(10)]


@pytest.fixture(autouse=True)
def _a_table(metastore: Metastore) -> None:
    metastore.table(keys=("k",))
    metastore.add_partitions(*((f"p{number}",) for number in range(10)))


def update(metastore: Metastore, number: int, *objects: Any) -> None:
    sent = statistics(metastore, *objects, partition=PARTITIONS[number])
    assert metastore.client().update_partition_column_statistics(sent)


def ask(metastore: Metastore, names: list[str], columns: list[str], **more: Any) -> Any:
    request = api.PartitionsStatsRequest(
        dbName=metastore.database, tblName="t", colNames=columns, partNames=names, **more
    )
    return metastore.client().get_aggr_stats_for(request)


def aggregate(metastore: Metastore, names: list[str], column: str) -> Any:
    (found,) = ask(metastore, names, [column]).colStats
    assert (found.colName, found.colType) == (column, TYPES[column])
    members = [getattr(found.statsData, spec[1]) for spec in found.statsData.thrift_spec.values()]
    (member,) = [each for each in members if each is not None]
    return member


def of_long(low: int | None, high: int | None, nulls: int = 0, ndv: int = 1, **more: Any) -> Any:
    data = api.LongColumnStatsData(lowValue=low, highValue=high, numNulls=nulls, numDVs=ndv, **more)
    return column_object("l", "bigint", "longStats", data)


SECOND: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "b": ({"numTrues": 10, "numFalses": 20, "numNulls": 30}, {"numTrues": 13, "numFalses": 24, "numNulls": 32}),
    "d": (
        {"lowValue": -2.5, "highValue": 7.0, "numNulls": 2, "numDVs": 3},
        {"lowValue": -2.5, "highValue": 1e300, "numNulls": 3, "numDVs": 7},
    ),
    "s": (
        {"maxColLen": 4, "avgColLen": 3.5, "numNulls": 2, "numDVs": 60},
        {"maxColLen": 9, "avgColLen": 3.5, "numNulls": 3, "numDVs": 60},
    ),
    "bin": ({"maxColLen": 11, "avgColLen": 1.5, "numNulls": 2}, {"maxColLen": 11, "avgColLen": 2.5, "numNulls": 5}),
    "dec": (
        {"lowValue": api.Decimal(scale=1, unscaled=b"\x05"), "highValue": api.Decimal(scale=0, unscaled=b"\x03")},
        {"numNulls": 0, "numDVs": 4},
    ),
    "dt": (
        {"lowValue": api.Date(daysSinceEpoch=5), "highValue": api.Date(daysSinceEpoch=30000), "numDVs": 9},
        {
            "lowValue": api.Date(daysSinceEpoch=-141428), "highValue": api.Date(daysSinceEpoch=30000),
            "numNulls": 0, "numDVs": 9,
        },
    ),
}  # fmt: skip
"""For each column what the second partition has beside the standard statistics, and what both come to."""


@pytest.mark.parametrize("column", list(SECOND))
def test_every_kind_adds_up(metastore: Metastore, column: str) -> None:
    second, expected = SECOND[column]
    update(metastore, 0, statistics_of(column))
    update(metastore, 1, statistics_of(column, **second))
    found = aggregate(metastore, PARTITIONS[:2], column)
    assert {name: getattr(found, name) for name in expected} == expected


def test_the_bounds_of_decimals(metastore: Metastore) -> None:
    update(metastore, 0, statistics_of("dec"))
    update(metastore, 1, statistics_of("dec", **SECOND["dec"][0]))
    found = aggregate(metastore, PARTITIONS[:2], "dec")
    assert (decimal_from_thrift(found.lowValue), decimal_from_thrift(found.highValue)) == (Decimal(-2), Decimal(3))


def test_longs_add_up(metastore: Metastore) -> None:
    for number, sent in enumerate((of_long(5, 40, 1, 7), of_long(-9, 20, 2, 9), of_long(0, 90, 4, 3))):
        update(metastore, number, sent)
    found = aggregate(metastore, PARTITIONS[:3], "l")
    assert (found.lowValue, found.highValue, found.numNulls, found.numDVs) == (-9, 90, 7, 9)


def test_a_timestamp_to_a_caller_that_names_no_engine(metastore: Metastore) -> None:
    for number in (0, 1):
        update(metastore, number, statistics_of("ts"))
    found = aggregate(metastore, PARTITIONS[:2], "ts")
    as_timestamp = metastore.flavour == "hive-4.0"
    assert (found.highValue.secondsSinceEpoch if as_timestamp else found.highValue) == 1_700_000_000


def test_it_says_how_many_partitions_have_every_column(metastore: Metastore) -> None:
    """The cache of Hive 2.3 and 3.1 answers with the number of the first who asked."""
    update(metastore, 0, of_long(1, 2), statistics_of("s"))
    update(metastore, 1, of_long(1, 2))
    assert ask(metastore, PARTITIONS[:2], ["l", "s"]).partsFound == 1
    both = metastore.expects(2, {"hive-2.3": 1, "hive-3.1": 1})
    assert ask(metastore, PARTITIONS[:2], ["l"]).partsFound == both
    assert ask(metastore, PARTITIONS[:3], ["l"]).partsFound == both
    assert ask(metastore, PARTITIONS[:2], ["s", "d"]).partsFound == 0


def test_nothing_known_is_nothing(metastore: Metastore) -> None:
    for names, columns in ((PARTITIONS, ["l"]), ([], ["l"]), (PARTITIONS, [])):
        found = ask(metastore, names, columns)
        assert (found.colStats, found.partsFound) == ([], 0)


def test_an_unknown_table(metastore: Metastore) -> None:
    request = api.PartitionsStatsRequest(dbName=metastore.database, tblName="nope", colNames=["l"], partNames=["k=p0"])
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().get_aggr_stats_for(request)


def test_one_known_partition_answers_as_it_is(metastore: Metastore) -> None:
    update(metastore, 3, of_long(5, 40, 1, 7))
    found = aggregate(metastore, PARTITIONS, "l")
    assert (found.lowValue, found.highValue, found.numNulls, found.numDVs) == (5, 40, 1, 7)


def test_missing_partitions_are_extrapolated(metastore: Metastore) -> None:
    """The second and the sixth of ten are known: their bounds are on a line that goes on to both ends."""
    update(metastore, 1, of_long(10, 20, 2, 5))
    update(metastore, 5, of_long(50, 60, 2, 5))
    found = aggregate(metastore, PARTITIONS, "l")
    assert (found.lowValue, found.highValue, found.numNulls, found.numDVs) == (0, 100, 20, 5)


def test_few_nulls_are_not_lost(metastore: Metastore) -> None:
    """Hive divides before it multiplies."""
    update(metastore, 1, of_long(10, 20, 1))
    update(metastore, 5, of_long(10, 20, 0))
    assert aggregate(metastore, PARTITIONS, "l").numNulls == metastore.expects(5, dict.fromkeys(HIVES, 0))


@pytest.mark.parametrize(("extra", "extrapolated"), [("k=nope", 25), (PARTITIONS[1], 10)])
def test_names_that_are_no_partition_do_not_count(metastore: Metastore, extra: str, extrapolated: int) -> None:
    """Hive takes them for partitions without statistics, and a name that comes twice for two: it extrapolates."""
    for number in (0, 1):
        update(metastore, number, of_long(10 * number, 10 * number + 5, 2))
    found = aggregate(metastore, [*PARTITIONS[:2], extra], "l")
    expected = metastore.expects((15, 4), dict.fromkeys(HIVES, (extrapolated, 6)))
    assert (found.highValue, found.numNulls) == expected


def test_bit_vectors_are_merged(metastore: Metastore) -> None:
    """Hive, as it comes, answers with the largest partition's number."""
    for number in (0, 1):
        vector = of_longs(12, 100 * number, 100 * number + 150).to_bytes()
        update(metastore, number, of_long(0, 1000, ndv=150, bitVectors=vector))
    found = aggregate(metastore, PARTITIONS[:2], "l")
    assert found.numDVs == metastore.expects(250, dict.fromkeys(HIVES, 150))
    assert found.bitVectors is None


def test_the_whole_range_of_a_long(metastore: Metastore) -> None:
    """PostgreSQL under Hive fails with `bigint out of range`."""
    for number in (0, 1):
        update(metastore, number, of_long(-(2**63), 2**63 - 1, ndv=5))
    if not metastore.ours:
        return
    found = aggregate(metastore, PARTITIONS[:2], "l")
    assert (found.lowValue, found.highValue, found.numDVs) == (-(2**63), 2**63 - 1, 5)


def test_a_planner_gets_no_bounds_the_wrong_way_round(metastore: Metastore) -> None:
    for number in (0, 1):
        update(metastore, number, of_long(9, 3))
    found = aggregate(metastore, PARTITIONS[:2], "l")
    expected = metastore.expects((None, None), dict.fromkeys(HIVES, (9, 3)))
    assert (found.lowValue, found.highValue) == expected


def test_a_caller_of_the_newer_generation(metastore: Metastore) -> None:
    for number in (0, 1):
        update(metastore, number, statistics_of("ts"))
    more = {"engine": "hive", "catName": "hive"} if metastore.generation >= 4 else {}
    (found,) = ask(metastore, PARTITIONS[:2], ["ts"], **more).colStats
    if metastore.generation >= 4:
        assert found.statsData.timestampStats.lowValue.secondsSinceEpoch == -5
    else:
        assert found.statsData.longStats.lowValue == -5

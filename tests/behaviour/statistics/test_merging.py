"""set_aggr_stats_for with needMerge: statistics of new rows go into what is stored."""

from typing import Any

import pytest
from tests.behaviour.structs import STRUCTS, of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import HIVES, Metastore
from tests.sketch.vectors import of_longs
from thriftpy2.thrift import TApplicationException

from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.wire.idl import hive_metastore as api

A1, A2 = "k=a/j=1", "k=a/j=2"
MERGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "b": ({"numTrues": 10, "numFalses": 20, "numNulls": 30}, {"numTrues": 13, "numFalses": 24, "numNulls": 32}),
    "l": (
        {"lowValue": -7, "highValue": 9, "numNulls": 2, "numDVs": 8},
        {"lowValue": -(2**63), "highValue": 2**63 - 1, "numNulls": 2, "numDVs": 8},
    ),
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
        {"lowValue": api.Decimal(scale=2, unscaled=b"\xff\x38"), "highValue": api.Decimal(scale=0, unscaled=b"\x03")},
    ),
    "dt": (
        {"lowValue": api.Date(daysSinceEpoch=5), "highValue": api.Date(daysSinceEpoch=30000), "numDVs": 9},
        {"lowValue": api.Date(daysSinceEpoch=-141428), "highValue": api.Date(daysSinceEpoch=30000), "numDVs": 9},
    ),
    "ts": (
        {"lowValue": -9, "highValue": 5, "numNulls": 4, "numDVs": 2},
        {"lowValue": -9, "highValue": 1_700_000_000, "numNulls": 4, "numDVs": 3},
    ),
}
"""For each column what is merged into its standard statistics, and what comes of it."""
BY_SCALE = {"lowValue": api.Decimal(scale=1, unscaled=b"\x05"), "highValue": api.Decimal(scale=1, unscaled=b"\x03")}
"""What Hive makes of the decimals, whose scale it compares first: 0.5 is less than -2.00, and 0.3 more than 3."""
BROKEN = {("hive-2.3", "dt"), ("hive-4.0", "ts")}
"""Hive 2.3 cannot merge dates, and 4.0 not the seconds that an older client sends of a timestamp."""


@pytest.fixture
def merging(metastore: Metastore) -> Metastore:
    """Those that can merge."""
    if metastore.flavour == "hive-3.1":
        pytest.skip("Hive 3.1.3 breaks on a merge that comes over Thrift: a ClassCastException")
    return metastore


def merge(metastore: Metastore, *sets: Any) -> bool:
    request = api.SetPartitionsStatsRequest(colStats=list(sets), needMerge=True)
    return bool(metastore.client().set_aggr_stats_for(request))


def partitioned(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"))
    metastore.add_partitions(("a", "1"), ("a", "2"))


def update_partition(metastore: Metastore, partition: str, *objects: Any) -> None:
    sent = statistics(metastore, *objects, partition=partition)
    assert metastore.client().update_partition_column_statistics(sent)


def merge_one(metastore: Metastore, column: str, partition: str | None) -> None:
    sent = statistics(metastore, statistics_of(column, **MERGED[column][0]), partition=partition)
    if (metastore.flavour, column) in BROKEN:
        with pytest.raises(TApplicationException, match="Internal error"):
            merge(metastore, sent)
        return
    merge(metastore, sent)


def check_merged(metastore: Metastore, column: str, found: Any) -> None:
    if (metastore.flavour, column) in BROKEN:
        return
    expected = MERGED[column][1]
    if column == "dec":
        expected = metastore.expects(expected, {"hive-2.3": BY_SCALE, "hive-4.0": BY_SCALE})
    member = getattr(found, STRUCTS[column][0])
    assert {name: getattr(member, name) for name in expected} == expected


@pytest.mark.parametrize("column", list(MERGED))
def test_a_tables_statistics_of_every_kind(merging: Metastore, column: str) -> None:
    merging.table()
    merging.client().update_table_column_statistics(statistics(merging, statistics_of(column)))
    merge_one(merging, column, None)
    check_merged(merging, column, of_table(merging, column)[column])


@pytest.mark.parametrize("column", list(MERGED))
def test_a_partitions_statistics_of_every_kind(merging: Metastore, column: str) -> None:
    partitioned(merging)
    update_partition(merging, A1, statistics_of(column))
    merge_one(merging, column, A1)
    check_merged(merging, column, of_partitions(merging, [A1], column)[A1][column])


def test_partitions_answer_true(merging: Metastore) -> None:
    """Hive 4.0 merges them and answers false."""
    partitioned(merging)
    update_partition(merging, A1, statistics_of("l"))
    answer = merge(merging, statistics(merging, statistics_of("l"), partition=A1))
    assert answer is merging.expects(True, {"hive-4.0": False})


def test_columns_that_are_not_marked_as_accurate(merging: Metastore) -> None:
    """Hive 4.0 passes over what COLUMN_STATS_ACCURATE does not name."""
    partitioned(merging)
    update_partition(merging, A1, statistics_of("l"))
    merge(merging, statistics(merging, statistics_of("l"), statistics_of("s"), partition=A1))
    found = set(of_partitions(merging, [A1], "l", "s")[A1])
    assert found == merging.expects({"l", "s"}, {"hive-4.0": {"l"}})


@pytest.mark.parametrize("partition", [None, A1])
def test_merging_into_nothing(merging: Metastore, partition: str | None) -> None:
    """A Hive passes over it, since nothing is marked; here it is stored, and no column is marked."""
    partitioned(merging) if partition else merging.table()
    merge(merging, statistics(merging, statistics_of("l"), partition=partition))
    found = of_partitions(merging, [partition], "l").get(partition, {}) if partition else of_table(merging, "l")
    assert set(found) == merging.expects({"l"}, {"hive-4.0": set()})
    if not merging.flavour.startswith("hive"):
        owner = merging.client().get_partition_by_name(merging.database, "t", partition) if partition else None
        parameters = merging.parameters() if owner is None else owner.parameters
        assert Accurate.parse(parameters.get(PARAMETER)).columns == frozenset()


def test_a_side_without_bounds_does_not_erase_the_others(merging: Metastore) -> None:
    merging.table()
    nothing = {"lowValue": None, "highValue": None}
    for first, second in ((nothing, {}), ({}, nothing)):
        client = merging.client()
        client.update_table_column_statistics(statistics(merging, statistics_of("d", **first)))
        merge(merging, statistics(merging, statistics_of("d", **second)))
        found = of_table(merging, "d")["d"].doubleStats
        assert (found.lowValue, found.highValue) == (-1.5, 1e300)


def test_what_was_not_sent_stays(merging: Metastore) -> None:
    merging.table()
    sent = statistics(merging, statistics_of("l"), statistics_of("s"))
    merging.client().update_table_column_statistics(sent)
    merge(merging, statistics(merging, statistics_of("l")))
    found = of_table(merging, "l", "s")
    assert (found["l"].longStats.numNulls, found["s"].stringStats.numNulls) == (0, 1)


def test_many_partitions_at_once(merging: Metastore) -> None:
    partitioned(merging)
    for partition in (A1, A2):
        update_partition(merging, partition, statistics_of("l", numNulls=1), statistics_of("s", numNulls=1))
    merge(
        merging,
        statistics(merging, statistics_of("l", numNulls=10), statistics_of("s", numNulls=3), partition=A2),
        statistics(merging, statistics_of("l", numNulls=5), statistics_of("s", numNulls=20), partition=A1),
    )
    found = of_partitions(merging, [A1, A2], "l", "s")
    nulls = {name: (each["l"].longStats.numNulls, each["s"].stringStats.numNulls) for name, each in found.items()}
    assert nulls == {A1: (6, 21), A2: (11, 4)}


def test_partitions_may_bring_other_columns_than_the_first(merging: Metastore) -> None:
    """Hive looks up the stored columns of the first alone, and overwrites the others."""
    partitioned(merging)
    for partition in (A1, A2):
        update_partition(merging, partition, statistics_of("l", numNulls=1), statistics_of("s", numNulls=1))
    merge(
        merging,
        statistics(merging, statistics_of("l", numNulls=10), partition=A1),
        statistics(merging, statistics_of("s", numNulls=20), partition=A2),
    )
    found = of_partitions(merging, [A2], "s")[A2]["s"].stringStats
    assert found.numNulls == merging.expects(21, dict.fromkeys(HIVES, 20))


def test_into_nothing(merging: Metastore) -> None:
    """Hive 4.0 stores nothing then."""
    merging.table()
    assert merge(merging, statistics(merging, statistics_of("l")))
    assert set(of_table(merging, "l")) == merging.expects({"l"}, {"hive-4.0": set()})


def test_bit_vectors_are_merged(merging: Metastore) -> None:
    """Hive, as it comes, puts the new one in the place of the old, and answers with the larger number."""
    merging.table()
    for start, send in ((0, False), (50, True), (100, True)):
        vector = of_longs(12, start, start + 100)
        sent = statistics(merging, statistics_of("l", numDVs=100, bitVectors=vector.to_bytes()))
        if send:
            merge(merging, sent)
        else:
            merging.client().update_table_column_statistics(sent)
    found = of_table(merging, "l")["l"].longStats
    assert found.numDVs == merging.expects(200, dict.fromkeys(HIVES, 100))


def test_a_corrupt_sketch_is_refused(our_metastore: Metastore) -> None:
    """Hive stores any bytes."""
    partitioned(our_metastore)
    update_partition(our_metastore, A1, statistics_of("l"))
    words = rf"of column l of partition {A1} of table hive.{our_metastore.database}.t cannot be read"
    for what in ("bitVectors", "histogram"):
        column = statistics_of("l", numNulls=1, **{what: b"nonsense"})
        with pytest.raises(api.InvalidInputException, match=words):
            update_partition(our_metastore, A1, column)
        with pytest.raises(api.InvalidInputException, match=words):
            merge(our_metastore, statistics(our_metastore, column, partition=A1))
    assert of_partitions(our_metastore, [A1], "l")[A1]["l"].longStats.numNulls == 0


def test_one_bad_set_merges_none(our_metastore: Metastore) -> None:
    partitioned(our_metastore)
    update_partition(our_metastore, A1, statistics_of("l"))
    good = statistics(our_metastore, statistics_of("l", numNulls=5), partition=A1)
    bad = statistics(our_metastore, statistics_of("l"), partition="k=nope/j=9")
    with pytest.raises(api.NoSuchObjectException):
        merge(our_metastore, good, bad)
    assert of_partitions(our_metastore, [A1], "l")[A1]["l"].longStats.numNulls == 0

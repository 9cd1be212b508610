"""Statistics of partitions' columns, as every metastore keeps them."""

import time
from typing import Any

import pytest
from tests.behaviour.structs import STRUCTS, column_object, of_partitions, statistics, statistics_of
from tests.fixtures.metastores import HIVES, Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

A1, A2, B1 = "k=a/j=1", "k=a/j=2", "k=b/j=1"


@pytest.fixture(autouse=True)
def _a_table(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"))
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))


def _update(metastore: Metastore, partition: str, *objects: Any) -> None:
    sent = statistics(metastore, *objects, partition=partition)
    assert metastore.client().update_partition_column_statistics(sent)


def _set_aggregate(metastore: Metastore, *sets: Any) -> bool:
    request = api.SetPartitionsStatsRequest(colStats=list(sets), needMerge=False)
    return bool(metastore.client().set_aggr_stats_for(request))


def _delete(metastore: Metastore, partition: str, column: str | None) -> bool:
    engine = "hive" if metastore.flavour == "hive-4.0" else None
    client = metastore.client()
    return bool(client.delete_partition_column_statistics(metastore.database, "t", partition, column, engine))


@pytest.mark.parametrize("column", list(STRUCTS))
def test_statistics_of_every_kind_come_back(metastore: Metastore, column: str) -> None:
    _update(metastore, A1, statistics_of(column))
    found = of_partitions(metastore, [A1], column)[A1][column]
    member, sent = STRUCTS[column]
    if column == "ts" and metastore.flavour == "hive-4.0":
        # Hive 4 answers timestampStats to every caller, which an older one reads as nothing.
        assert (found.longStats, found.timestampStats.lowValue.secondsSinceEpoch) == (None, -5)
        return
    received = getattr(found, member)
    for name in ("lowValue", "highValue", "numNulls", "numDVs", "numTrues", "numFalses", "maxColLen", "avgColLen"):
        assert getattr(received, name, None) == getattr(sent, name, None), name


def test_a_caller_that_names_an_engine_reads_timestamps_as_such(metastore: Metastore) -> None:
    """Hive before 4 has longs only."""
    _update(metastore, A1, statistics_of("ts"))
    found = of_partitions(metastore, [A1], "ts", engine="hive")[A1]["ts"]
    if metastore.generation < 4:
        assert found.longStats.highValue == 1_700_000_000
        return
    assert found.longStats is None
    assert found.timestampStats.highValue.secondsSinceEpoch == 1_700_000_000


def test_many_partitions_and_columns_are_read_at_once(metastore: Metastore) -> None:
    for ndv, partition in enumerate((A1, A2, B1), start=1):
        _update(metastore, partition, statistics_of("l", numDVs=ndv), statistics_of("s", numDVs=10 + ndv))
    found = of_partitions(metastore, [B1, A1], "l", "s")
    ndvs = {name: (each["l"].longStats.numDVs, each["s"].stringStats.numDVs) for name, each in found.items()}
    assert ndvs == {A1: (1, 11), B1: (3, 13)}


def test_what_has_no_statistics_is_left_out(metastore: Metastore) -> None:
    _update(metastore, A1, statistics_of("l"))
    _update(metastore, A2, statistics_of("s"))
    found = of_partitions(metastore, [A1, A2, B1, "k=nope/j=9"], "l", "b", "nope")
    assert {name: set(columns) for name, columns in found.items()} == {A1: {"l"}}


def test_the_singular_getter_says_when_they_were_analysed(metastore: Metastore) -> None:
    sent = statistics(metastore, statistics_of("l"), partition=A1)
    sent.statsDesc.lastAnalyzed = 5
    client = metastore.client()
    client.update_partition_column_statistics(sent)
    found = client.get_partition_column_statistics(metastore.database, "t", A1, "l")
    assert not found.statsDesc.isTblLevel
    assert (found.statsDesc.dbName, found.statsDesc.tableName) == (metastore.database, "t")
    assert found.statsDesc.partName == A1
    assert abs(found.statsDesc.lastAnalyzed - time.time()) < 100, "the server's time, not the client's"
    assert [each.colName for each in found.statsObj] == ["l"]


def test_the_singular_getter_refuses_what_is_not_there(metastore: Metastore) -> None:
    """Hive answers with nothing, which its own client cannot read."""
    nothing = dict.fromkeys(HIVES, TApplicationException)
    with pytest.raises(metastore.expects(api.NoSuchObjectException, nothing)):
        metastore.client().get_partition_column_statistics(metastore.database, "t", A1, "l")


def test_an_unknown_table(metastore: Metastore) -> None:
    client = metastore.client()
    sent = statistics(metastore, statistics_of("l"), partition=A1, table="nope")
    with pytest.raises(api.InvalidObjectException, match=rf"{metastore.database}.nope table not found"):
        client.update_partition_column_statistics(sent)
    with pytest.raises(api.InvalidObjectException, match=rf"{metastore.database}.nope table not found"):
        _set_aggregate(metastore, sent)
    request = api.PartitionsStatsRequest(dbName=metastore.database, tblName="nope", colNames=["l"], partNames=[A1])
    with pytest.raises(api.NoSuchObjectException):
        client.get_partitions_statistics_req(request)


def test_an_unknown_partition(metastore: Metastore) -> None:
    sent = statistics(metastore, statistics_of("l"), partition="k=nope/j=9")
    with pytest.raises(api.NoSuchObjectException, match="Partition for which stats is gathered doesn't exist"):
        metastore.client().update_partition_column_statistics(sent)


def test_a_partition_name_that_lacks_a_key(metastore: Metastore) -> None:
    sent = statistics(metastore, statistics_of("l"), partition="k=a")
    with pytest.raises(api.InvalidObjectException, match="incomplete partition name - missing j"):
        metastore.client().update_partition_column_statistics(sent)


def test_a_name_that_no_partition_can_have_is_passed_over(metastore: Metastore) -> None:
    client = metastore.client()
    client.update_partition_column_statistics(statistics(metastore, statistics_of("l"), partition=A1))
    names = ["k=a", "nope", A1]
    request = api.PartitionsStatsRequest(dbName=metastore.database, tblName="t", colNames=["l"], partNames=names)
    assert list(client.get_partitions_statistics_req(request).partStats) == [A1]
    request.partNames = ["nope"]
    assert client.get_partitions_statistics_req(request).partStats == {}
    request.partNames = [A1, ""]
    with pytest.raises(api.MetaException, match="Partition name is invalid"):
        client.get_partitions_statistics_req(request)


def test_an_empty_partition_name(metastore: Metastore) -> None:
    sent = statistics(metastore, statistics_of("l"), partition="")
    with pytest.raises(api.MetaException, match="Partition name is invalid"):
        metastore.client().update_partition_column_statistics(sent)


def test_an_unknown_column_writes_nothing(metastore: Metastore) -> None:
    """Hive stores the statistics of a column that does not exist, with a warning in its log; 2.3 breaks then."""
    unknown = column_object("nope", "bigint", *STRUCTS["l"])
    if metastore.flavour in ("hive-3.1", "hive-4.0"):
        _update(metastore, A1, statistics_of("l"), unknown)
        assert set(of_partitions(metastore, [A1], "l", "nope")[A1]) == {"l", "nope"}
        return
    broken = {"hive-2.3": (TApplicationException, "Internal error")}
    expected = metastore.expects((api.MetaException, "Column nope doesn't exist in table t"), broken)
    with pytest.raises(expected[0], match=expected[1]):
        _update(metastore, A1, statistics_of("l"), unknown)
    if metastore.ours:
        assert of_partitions(metastore, [A1], "l", "nope") == {}


def test_statistics_of_a_partition_key(metastore: Metastore) -> None:
    """Hive 2.3 breaks on them, newer clients write them."""
    key = column_object("k", "string", *STRUCTS["s"])
    if metastore.flavour == "hive-2.3":
        with pytest.raises(TApplicationException, match="Internal error"):
            _update(metastore, A1, key)
        return
    _update(metastore, A1, key)
    assert of_partitions(metastore, [A1], "k")[A1]["k"].stringStats.numDVs == 6


def test_writing_again_replaces(metastore: Metastore) -> None:
    for ndv in (5, 9):
        _update(metastore, A1, statistics_of("l", numDVs=ndv))
    assert of_partitions(metastore, [A1], "l")[A1]["l"].longStats.numDVs == 9


def test_an_unset_bound_keeps_the_stored_one(metastore: Metastore) -> None:
    _update(metastore, A1, statistics_of("d"))
    _update(metastore, A1, statistics_of("d", highValue=None, numNulls=8))
    found = of_partitions(metastore, [A1], "d")[A1]["d"].doubleStats
    assert (found.lowValue, found.highValue, found.numNulls) == (-1.5, 1e300, 8)


def test_keys_are_read_in_any_case_and_values_are_not(metastore: Metastore) -> None:
    _update(metastore, "K=a/J=1", statistics_of("l"))
    assert set(of_partitions(metastore, [A1], "l")) == {A1}
    with pytest.raises(api.NoSuchObjectException):
        _update(metastore, "k=A/j=1", statistics_of("l"))


def test_keys_in_another_order_name_the_same_partition(metastore: Metastore) -> None:
    """Hive finds the partition, and then keeps its statistics under the name as it was sent."""
    sent_name = "j=1/k=a"
    _update(metastore, sent_name, statistics_of("l"))
    as_sent = dict.fromkeys(HIVES, sent_name)
    expected = metastore.expects(A1, as_sent)
    assert set(of_partitions(metastore, [A1], "l") | of_partitions(metastore, [sent_name], "l")) == {expected}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a/b=c", "k=a%2Fb%3Dc/j=1"),
        ("2020-01-01 12:00:00", "k=2020-01-01 12%3A00%3A00/j=1"),
        ("100%", "k=100%25/j=1"),
        ("grün", "k=grün/j=1"),
        ("", "k=__HIVE_DEFAULT_PARTITION__/j=1"),
    ],
)
def test_values_that_a_path_cannot_hold(metastore: Metastore, value: str, name: str) -> None:
    metastore.add_partitions((value, "1"))
    _update(metastore, name, statistics_of("l"))
    assert set(of_partitions(metastore, [name], "l")) == {name}
    found = metastore.client().get_partition_column_statistics(metastore.database, "t", name, "l")
    assert found.statsDesc.partName == name


def test_a_catalog_may_stand_before_the_database(metastore: Metastore) -> None:
    """Hive 2.3 knows no catalogs."""
    _update(metastore, A1, statistics_of("l"))
    client, named = metastore.client(), f"@hive#{metastore.database}"
    if metastore.generation < 3:
        with pytest.raises(api.NoSuchObjectException):
            client.get_partition_column_statistics(named, "t", A1, "l")
        return
    assert client.get_partition_column_statistics(named, "t", A1, "l").statsObj


def test_deleting_one_column_leaves_the_others(metastore: Metastore) -> None:
    for partition in (A1, A2):
        _update(metastore, partition, statistics_of("l"), statistics_of("s"))
    assert _delete(metastore, A1, "l")
    found = of_partitions(metastore, [A1, A2], "l", "s")
    assert {name: set(columns) for name, columns in found.items()} == {A1: {"s"}, A2: {"l", "s"}}


def test_deleting_without_a_column_deletes_all(metastore: Metastore) -> None:
    for partition in (A1, A2):
        _update(metastore, partition, statistics_of("l"), statistics_of("s"))
    assert _delete(metastore, A1, None)
    assert set(of_partitions(metastore, [A1, A2], "l", "s")) == {A2}


def test_deleting_what_is_not_there(metastore: Metastore) -> None:
    """Success here and in the newest Hive, as Trino needs; an error in Hive up to 4.0."""
    for partition in (A1, "k=nope/j=9"):
        if metastore.ours:
            assert _delete(metastore, partition, "l")
            continue
        with pytest.raises(api.NoSuchObjectException):
            _delete(metastore, partition, "l")


def test_the_columns_are_marked_as_accurate(metastore: Metastore) -> None:
    _update(metastore, A1, statistics_of("s"), statistics_of("l"))
    client = metastore.client()
    marked = client.get_partition_by_name(metastore.database, "t", A1).parameters["COLUMN_STATS_ACCURATE"]
    assert marked == '{"COLUMN_STATS":{"l":"true","s":"true"}}'
    assert "COLUMN_STATS_ACCURATE" not in client.get_partition_by_name(metastore.database, "t", A2).parameters


def test_many_partitions_can_be_set_at_once(metastore: Metastore) -> None:
    assert _set_aggregate(
        metastore,
        statistics(metastore, statistics_of("l", numDVs=1), statistics_of("b"), partition=A1),
        statistics(metastore, statistics_of("l", numDVs=2), partition=B1),
    )
    found = of_partitions(metastore, [A1, A2, B1], "l", "b")
    assert {name: set(columns) for name, columns in found.items()} == {A1: {"l", "b"}, B1: {"l"}}
    assert (found[A1]["l"].longStats.numDVs, found[B1]["l"].longStats.numDVs) == (1, 2)


def test_the_calls_of_the_newer_generation_write_too(metastore: Metastore) -> None:
    """Hive before 4 has no such call."""
    sent = statistics(metastore, statistics_of("l"), partition=A1)
    request = api.SetPartitionsStatsRequest(colStats=[sent], needMerge=False, engine="hive")
    client = metastore.client()
    if metastore.generation < 4:
        with pytest.raises(TApplicationException, match="Invalid method name"):
            client.update_partition_column_statistics_req(request)
        return
    assert client.update_partition_column_statistics_req(request).result
    assert set(of_partitions(metastore, [A1], "l", engine="hive")) == {A1}


def test_an_unknown_partition_in_an_aggregate_writes_nothing(metastore: Metastore) -> None:
    """Hive 2.3 and 3.1 keep what they wrote before they met it; 4.0 passes over it in silence."""
    known = statistics(metastore, statistics_of("l"), partition=A1)
    unknown = statistics(metastore, statistics_of("l"), partition="k=nope/j=9")
    if metastore.flavour == "hive-4.0":
        assert _set_aggregate(metastore, known, unknown)
        assert set(of_partitions(metastore, [A1], "l")) == {A1}
        return
    with pytest.raises(api.NoSuchObjectException):
        _set_aggregate(metastore, known, unknown)
    if metastore.ours:
        assert of_partitions(metastore, [A1], "l") == {}


def test_an_unknown_column_in_an_aggregate_writes_nothing(metastore: Metastore) -> None:
    """Hive stores the statistics of a column that does not exist; 2.3 breaks then."""
    known = statistics(metastore, statistics_of("l"), partition=A1)
    unknown = statistics(metastore, column_object("nope", "bigint", *STRUCTS["l"]), partition=A2)
    if metastore.flavour in ("hive-3.1", "hive-4.0"):
        assert _set_aggregate(metastore, known, unknown)
        assert set(of_partitions(metastore, [A1, A2], "l", "nope")) == {A1, A2}
        return
    with pytest.raises(metastore.expects(api.MetaException, {"hive-2.3": TApplicationException})):
        _set_aggregate(metastore, known, unknown)
    if metastore.ours:
        assert of_partitions(metastore, [A1, A2], "l", "nope") == {}


def test_two_sets_for_one_partition_are_joined(metastore: Metastore) -> None:
    """Hive 3.1 and 4.0 keep the later set alone."""
    assert _set_aggregate(
        metastore,
        statistics(metastore, statistics_of("l"), partition=A1),
        statistics(metastore, statistics_of("s"), partition=A1),
    )
    later_alone = {"hive-3.1": {"s"}, "hive-4.0": {"s"}}
    assert set(of_partitions(metastore, [A1], "l", "s")[A1]) == metastore.expects({"l", "s"}, later_alone)


def test_two_sets_of_one_column_of_one_partition_are_merged(metastore: Metastore) -> None:
    """Hive 2.3 keeps the later alone; 3.1 closes the connection."""
    if metastore.flavour == "hive-3.1":
        pytest.skip("Hive 3.1 closes the connection")
    first = statistics_of("l", lowValue=1, highValue=10, numNulls=1, numDVs=5)
    second = statistics_of("l", lowValue=8, highValue=20, numNulls=2, numDVs=9)
    assert _set_aggregate(
        metastore, statistics(metastore, first, partition=A1), statistics(metastore, second, partition=A1)
    )
    found = of_partitions(metastore, [A1], "l")[A1]["l"].longStats
    merged, later = (1, 20, 3, 9), (8, 20, 2, 9)
    expected = metastore.expects(merged, {"hive-2.3": later})
    assert (found.lowValue, found.highValue, found.numNulls, found.numDVs) == expected


def test_in_one_set_the_later_statistics_of_a_column_count(metastore: Metastore) -> None:
    first, second = statistics_of("l", numNulls=1, numDVs=5), statistics_of("l", numNulls=2, numDVs=4)
    assert _set_aggregate(metastore, statistics(metastore, first, second, partition=A1))
    found = of_partitions(metastore, [A1], "l")[A1]["l"].longStats
    assert (found.numNulls, found.numDVs) == (2, 4)


def test_dropping_the_partition_drops_its_statistics(metastore: Metastore) -> None:
    _update(metastore, A1, statistics_of("l"))
    _update(metastore, A2, statistics_of("l"))
    metastore.client().drop_partition(metastore.database, "t", ["a", "1"], True)
    metastore.add_partitions(("a", "1"))
    assert set(of_partitions(metastore, [A1, A2], "l")) == {A2}


def test_dropping_the_table_drops_its_partitions_statistics(metastore: Metastore) -> None:
    _update(metastore, A1, statistics_of("l"))
    metastore.client().drop_table(metastore.database, "t", True)
    metastore.table(keys=("k", "j"))
    metastore.add_partitions(("a", "1"))
    assert of_partitions(metastore, [A1], "l") == {}

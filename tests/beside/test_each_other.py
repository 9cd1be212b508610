"""What Hive writes is what ours reads at once, and the other way round."""

from typing import Any

import pytest
from tests.behaviour.structs import STRUCTS, of_table, statistics, statistics_of
from tests.beside.plain import differences, plain
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import Pair
from tests.sketch.vectors import of_longs

from hmstats.wire.idl import hive_metastore as api

ESTIMATE = 5
"""So far from the truth may the distinct values of a bit vector be."""


def test_each_reads_the_tables_of_the_other(hive_and_ours: Pair) -> None:
    hive, ours = hive_and_ours.both
    hive.table("theirs", keys=("k",))
    ours.table("mine", keys=("k",))
    hive.add_partitions(("a",), table="mine")
    ours.add_partitions(("b",), table="theirs")
    for each in hive_and_ours.both:
        client = each.client()
        assert sorted(client.get_all_tables(each.database)) == ["mine", "theirs"]
        assert client.get_partition_names(each.database, "mine", -1) == ["k=a"]
        assert client.get_partition_names(each.database, "theirs", -1) == ["k=b"]
    for name in ("mine", "theirs"):
        theirs, mine = (_comparable(each.read_table(name)) for each in hive_and_ours.both)
        assert differences(theirs, mine) == []


def test_each_reads_the_statistics_of_the_other(hive_and_ours: Pair) -> None:
    hive, ours = hive_and_ours.both
    for table, writer in (("theirs", hive), ("mine", ours)):
        hive.table(table)
        objects = [statistics_of(column) for column in STRUCTS]
        writer.client().update_table_column_statistics(statistics(writer, *objects, table=table))
        theirs, mine = (_of(each, table) for each in hive_and_ours.both)
        assert set(mine) == set(STRUCTS)
        assert differences(theirs, mine) == []


def test_a_write_on_hive_is_in_the_next_answer_of_ours(hive_and_ours: Pair) -> None:
    hive, ours = hive_and_ours.both
    hive.table()
    writer = hive.client()
    for number in range(30):
        writer.update_table_column_statistics(statistics(hive, statistics_of("l", numDVs=number)))
        assert of_table(ours, "l")["l"].longStats.numDVs == number


def test_each_unites_the_bit_vectors_of_both(hive_and_ours: Pair) -> None:
    """150 values are in either partition, 50 of them in both; Hive 2.3 keeps no bit vectors."""
    hive, ours = hive_and_ours.both
    hive.table(keys=("k",))
    hive.add_partitions(("a",), ("b",))
    for writer, partition, first in ((hive, "k=a", 0), (ours, "k=b", 50)):
        vector = of_longs(12, first, first + 100).to_bytes()
        sent = statistics(
            writer,
            statistics_of("l", lowValue=first, highValue=first + 99, numDVs=100, bitVectors=vector),
            partition=partition,
        )
        assert writer.client().update_partition_column_statistics(sent)
    wanted = api.PartitionsStatsRequest(
        dbName=hive.database, tblName="t", colNames=["l"], partNames=["k=a", "k=b"], engine="hive"
    )
    found = [each.client().get_aggr_stats_for(wanted).colStats[0].statsData.longStats for each in hive_and_ours.both]
    counted = [each.numDVs for each in found]
    if hive.generation == 2.3:
        assert all(100 <= each <= 200 for each in counted)
    else:
        assert all(abs(each - 150) <= ESTIMATE for each in counted)


def test_both_make_catalogs(hive_and_ours: Pair) -> None:
    """Their ids are from one sequence, whoever takes them first; Hive 2.3 has no catalogs."""
    if hive_and_ours.hive.generation == 2.3:
        with pytest.raises(api.MetaException, match="has no table CTLGS to store this in"):
            _make_catalog(hive_and_ours.ours, "c0")
        return
    for number in range(4):
        _make_catalog(hive_and_ours.both[number % 2], f"c{number}")
    for each in hive_and_ours.both:
        assert each.client().get_catalogs().names == ["c0", "c1", "c2", "c3", "hive"]


def test_a_table_that_hive_drops_is_gone(hive_and_ours: Pair) -> None:
    hive, ours = hive_and_ours.both
    ours.table()
    ours.client().update_table_column_statistics(statistics(ours, statistics_of("l")))
    hive.client().drop_table(hive.database, "t", True)
    with pytest.raises(api.NoSuchObjectException):
        ours.read_table()


def _make_catalog(metastore: Metastore, name: str) -> None:
    catalog = api.Catalog(name=name, description="", locationUri=f"file:/tmp/{name}")
    metastore.client().create_catalog(api.CreateCatalogRequest(catalog=catalog))


def _of(metastore: Metastore, table: str) -> dict[str, Any]:
    """The statistics of all columns; a timestamp's have another member of the union on Hive 4."""
    found = of_table(metastore, *STRUCTS, table=table)
    plain_of = {column: plain(data) for column, data in found.items()}
    times = found["ts"].timestampStats
    if times is not None:
        bounds = {"lowValue": times.lowValue.secondsSinceEpoch, "highValue": times.highValue.secondsSinceEpoch}
        plain_of["ts"] = {"longStats": {**plain(times), **bounds}}
    return plain_of


def _comparable(table: Any) -> dict[str, Any]:
    names = ("tableName", "dbName", "owner", "createTime", "sd", "partitionKeys", "parameters", "tableType")
    found = plain(table)
    return {name: found.get(name) for name in names}

"""A partitioned table that says nothing of itself is answered for by its partitions. Hive has no such thing."""

from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.sketch.vectors import of_longs

from hmstats.client import connect
from hmstats.model.catalog.names import table_name
from hmstats.wire.idl import hive_metastore as api

MARKER = "hmstats.computed"


def fill(metastore: Metastore) -> None:
    """A table of two partitions with statistics, rows and bytes, and without its own."""
    metastore.table(keys=("k",))
    metastore.add_partitions(("a",), ("b",))
    client = metastore.client()
    for number, name in enumerate(("k=a", "k=b")):
        vector = of_longs(12, 100 * number, 100 * number + 150).to_bytes()
        column = statistics_of("l", lowValue=number, highValue=number + 10, numNulls=1, numDVs=150, bitVectors=vector)
        client.update_partition_column_statistics(statistics(metastore, column, statistics_of("s"), partition=name))
        say(metastore, name, numRows=str(10 + number), totalSize="1000", numFiles="1")


def say(metastore: Metastore, partition: str, **parameters: str) -> None:
    client = metastore.client()
    found = client.get_partition_by_name(metastore.database, "t", partition)
    found.parameters.update(parameters)
    client.alter_partition_with_environment_context(metastore.database, "t", found, as_given())


def as_given() -> api.EnvironmentContext:
    """What a writer sends whose sizes are not to be counted: the partitions of these tests have no files."""
    return api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})


def sizes(parameters: dict[str, str]) -> dict[str, str]:
    return {
        key: parameters[key] for key in ("numRows", "totalSize", "numFiles", "rawDataSize", MARKER) if key in parameters
    }


def test_the_plural_getter(our_metastore: Metastore) -> None:
    fill(our_metastore)
    found = of_table(our_metastore, "l", "s", "d")
    assert set(found) == {"l", "s"}
    long = found["l"].longStats
    assert (long.lowValue, long.highValue, long.numNulls, long.numDVs) == (0, 11, 2, 250)


def test_the_singular_getter(our_metastore: Metastore) -> None:
    fill(our_metastore)
    client = our_metastore.client()
    found = client.get_table_column_statistics(our_metastore.database, "t", "l")
    assert found.statsDesc.isTblLevel
    assert found.statsObj[0].statsData.longStats.numDVs == 250
    with pytest.raises(api.NoSuchObjectException):
        client.get_table_column_statistics(our_metastore.database, "t", "d")


def test_the_table_with_its_statistics(our_metastore: Metastore) -> None:
    fill(our_metastore)
    found = our_metastore.read_table(getColumnStats=True, engine="hive").colStats
    assert {each.colName for each in found.statsObj} == {"l", "s"}


def test_the_tables_own_statistics_come_first(our_metastore: Metastore) -> None:
    fill(our_metastore)
    sent = statistics(our_metastore, statistics_of("l", numDVs=7))
    our_metastore.client().update_table_column_statistics(sent)
    found = of_table(our_metastore, "l", "s")
    assert (found["l"].longStats.numDVs, found["s"].stringStats.numDVs) == (7, 6)


def test_rows_files_and_bytes(our_metastore: Metastore) -> None:
    fill(our_metastore)
    database, client = our_metastore.database, our_metastore.client()
    expected = {"numRows": "21", "totalSize": "2000", "numFiles": "2"}
    assert sizes(our_metastore.parameters()) == expected
    assert sizes(client.get_table(database, "t").parameters) == expected
    (listed,) = client.get_table_objects_by_name(database, ["t"])
    assert sizes(listed.parameters) == expected


@pytest.mark.parametrize("rows", ["", "-1", "many"])
def test_what_one_partition_does_not_say_is_not_said(our_metastore: Metastore, rows: str) -> None:
    fill(our_metastore)
    say(our_metastore, "k=b", numRows=rows)
    assert set(sizes(our_metastore.parameters())) == {"totalSize", "numFiles"}
    our_metastore.add_partitions(("c",))
    assert sizes(our_metastore.parameters()) == {}


def test_a_table_that_is_written_back_does_not_keep_what_was_computed(our_metastore: Metastore) -> None:
    fill(our_metastore)
    client, read = our_metastore.client(), our_metastore.read_table()
    say(our_metastore, "k=b", numRows="90")
    read.parameters["mine"] = "x"
    client.alter_table(our_metastore.database, "t", read)
    found = our_metastore.parameters()
    assert (found["mine"], sizes(found)) == ("x", {"numRows": "100", "totalSize": "2000", "numFiles": "2"})
    say(our_metastore, "k=b", numRows="91")
    assert our_metastore.parameters()["numRows"] == "101"


@pytest.mark.parametrize("changed", [False, True])
def test_a_client_that_keeps_no_marker_is_recognised_by_the_values(our_metastore: Metastore, changed: bool) -> None:
    """So do Spark and Trino write a table; over one connection, what an answer had a while ago is known too."""
    fill(our_metastore)
    client = our_metastore.client()
    read = client.get_table(our_metastore.database, "t")
    if changed:
        for name in ("k=a", "k=b"):
            found = client.get_partition_by_name(our_metastore.database, "t", name)
            found.parameters["numRows"] = "50"
            client.alter_partition(our_metastore.database, "t", found)
    read.sd.parameters = {}
    client.alter_table(our_metastore.database, "t", read)
    assert sizes(our_metastore.parameters())["numRows"] == ("100" if changed else "21")
    say(our_metastore, "k=b", numRows="90")
    assert sizes(our_metastore.parameters())["numRows"] == ("140" if changed else "100")


def test_a_partition_that_is_made_of_a_tables_storage_keeps_no_marker(our_metastore: Metastore) -> None:
    """So do Hive's clients make partitions."""
    fill(our_metastore)
    client, read = our_metastore.client(), our_metastore.read_table()
    assert MARKER in read.sd.parameters
    partition = our_metastore.partition("c")
    partition.sd.parameters = read.sd.parameters
    client.add_partition(partition)
    found = client.get_partition_by_name(our_metastore.database, "t", "k=c")
    assert MARKER not in (found.sd.parameters or {})


def test_no_answer_has_a_parameter_that_says_what_was_computed(our_metastore: Metastore) -> None:
    our_metastore.table(name="plain", keys=("k",))
    bare = set(our_metastore.parameters("plain"))
    fill(our_metastore)
    assert set(our_metastore.parameters()) - bare == {"numRows", "totalSize", "numFiles"}


def test_what_a_client_says_that_it_sets_itself_is_kept(our_metastore: Metastore) -> None:
    fill(our_metastore)
    with connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        service.put_table_parameters(table_name(our_metastore.database, "t"), {"numRows": "21"})
    say(our_metastore, "k=b", numRows="90")
    assert sizes(our_metastore.parameters())["numRows"] == "21"


def test_a_table_that_was_read_from_an_earlier_release_does_not_keep_them(our_metastore: Metastore) -> None:
    fill(our_metastore)
    client, read = our_metastore.client(), our_metastore.read_table()
    read.sd.parameters = {}
    read.parameters.update({"numRows": "5", MARKER: "numRows=5"})
    client.alter_table(our_metastore.database, "t", read)
    found = our_metastore.parameters()
    assert (found["numRows"], MARKER in found) == ("21", False)


def test_what_the_client_says_itself_is_kept(our_metastore: Metastore) -> None:
    fill(our_metastore)
    client, read = our_metastore.client(), our_metastore.read_table()
    for key in ("a", "b"):  # as the partitions say, or an alter would see that files have changed
        (Path(read.sd.location.removeprefix("file:")) / f"k={key}" / "part-0").write_bytes(b"x" * 1000)
    read.parameters["numRows"] = "22"
    client.alter_table_with_environment_context(our_metastore.database, "t", read, as_given())
    found = our_metastore.parameters()
    assert (found["numRows"], found["numFiles"]) == ("22", "2")
    say(our_metastore, "k=b", numRows="90", numFiles="5")
    found = our_metastore.parameters()
    assert (found["numRows"], found["numFiles"]) == ("22", "6")


def test_a_copy_of_the_table_does_not_keep_them_either(our_metastore: Metastore) -> None:
    fill(our_metastore)
    read: Any = our_metastore.read_table()
    read.tableName = "copy"
    our_metastore.client().create_table(read)
    assert sizes(our_metastore.parameters("copy")) == {}


@pytest.mark.slow
def test_it_can_be_turned_off(tmp_path: Path) -> None:
    with serving(tmp_path, settings={"statistics_from_partitions": False}) as port:
        metastore = Metastore("hmstats-sqlite", port, 4.0)
        with metastore.clients:
            metastore.client().create_database(api.Database(name=metastore.database, description="", parameters={}))
            fill(metastore)
            assert of_table(metastore, "l") == {}
            assert sizes(metastore.parameters()) == {}

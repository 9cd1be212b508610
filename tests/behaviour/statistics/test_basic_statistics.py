"""Rows, files and bytes among the parameters, and which statistics are exact, when tables and partitions are changed.

Who alters a table without a word about statistics may have changed its rows. Hive then counts the files and drops
COLUMN_STATS_ACCURATE: engines answer queries from what is marked there.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"l": "bigint"}
MARK = '{"BASIC_STATS":"true","COLUMN_STATS":{"l":"true"}}'
BASIC = '{"BASIC_STATS":"true"}'
STATED = {"COLUMN_STATS_ACCURATE": MARK, "numRows": "7", "numFiles": "3", "totalSize": "99", "rawDataSize": "77"}
COUNTED = {"numFiles": "2", "totalSize": "115"}
"""What `fill` puts into a directory, but for hidden files."""
QUIET, TASK, USER = (
    {"DO_NOT_UPDATE_STATS": "true"},
    {"STATS_GENERATED": "TASK"},
    {"STATS_GENERATED": "USER"},
)


def fill(place: Path) -> None:
    """Two files of data, one of them in a directory, and hidden ones."""
    (place / "sub").mkdir(parents=True)
    (place / "_temporary").mkdir()
    (place / "a.parquet").write_bytes(bytes(15))
    (place / "sub" / "b.parquet").write_bytes(bytes(100))
    for hidden in ("_SUCCESS", ".a.parquet.crc", "_temporary/c.parquet"):
        (place / hidden).write_bytes(bytes(7))


def context(given: Mapping[str, str] | None) -> Any:
    """An environment context; None for none."""
    return None if given is None else api.EnvironmentContext(properties=dict(given))


def shown(parameters: Mapping[str, str]) -> dict[str, str]:
    """What is said of statistics, without what only Hive 4 counts."""
    return {key: value for key, value in parameters.items() if key in STATED}


def make(
    metastore: Metastore,
    place: Path,
    parameters: Mapping[str, str] | None = None,
    given: Mapping[str, str] | None = None,
    **values: Any,
) -> None:
    """Make the table `t` at a place."""
    storage = metastore.storage(COLUMNS)
    storage.location = f"file:{place}"
    table = api.Table(
        tableName="t",
        dbName=metastore.database,
        owner="tester",
        sd=storage,
        partitionKeys=[api.FieldSchema(name=key, type="string", comment="") for key in values.pop("keys", ())],
        parameters=dict(parameters or {}),
        tableType="EXTERNAL_TABLE",
        **values,
    )
    table.parameters["EXTERNAL"] = "TRUE"
    metastore.client().create_table_with_environment_context(table, context(given))


def alter(metastore: Metastore, given: Mapping[str, str] | None, **changed: str) -> dict[str, str]:
    """Alter the table's parameters; what they say of statistics then."""
    table = metastore.read_table()
    table.parameters |= changed
    client = metastore.client()
    client.alter_table_with_environment_context(metastore.database, "t", table, context(given))
    return shown(metastore.parameters())


@pytest.fixture
def table(metastore: Metastore, tmp_path: Path) -> Metastore:
    """A table whose parameters say more than what lies at its place."""
    fill(tmp_path / "t")
    make(metastore, tmp_path / "t")
    alter(metastore, QUIET, **STATED)
    return metastore


@pytest.mark.parametrize(
    ("given", "mark"),
    [(None, None), ({}, None), (USER, None), (TASK, MARK)],
    ids=["no context", "nothing said", "by a user", "by a task"],
)
def test_an_alter_has_the_files_counted(table: Metastore, given: Mapping[str, str] | None, mark: str | None) -> None:
    marked = {"COLUMN_STATS_ACCURATE": mark} if mark else {}
    assert alter(table, given, numRows="8") == {"numRows": "8", "rawDataSize": "77", **COUNTED, **marked}


def test_an_alter_that_says_so_leaves_what_it_brings(table: Metastore) -> None:
    assert alter(table, QUIET, numRows="8") == {**STATED, "numRows": "8"}
    assert alter(table, {**QUIET, **USER}, numRows="9") == {**STATED, "numRows": "9"}
    assert alter(table, None, DO_NOT_UPDATE_STATS="true") == {**STATED, "numRows": "9"}


def test_a_job_that_counted_rows_makes_them_exact(table: Metastore) -> None:
    found = table.read_table()
    del found.parameters["COLUMN_STATS_ACCURATE"]
    client = table.client()
    client.alter_table_with_environment_context(table.database, "t", found, context(TASK))
    assert table.parameters()["COLUMN_STATS_ACCURATE"] == BASIC


@pytest.mark.parametrize("call", ["alter_table", "alter_table_with_cascade", "alter_table_req"])
def test_every_call_that_alters_a_table(table: Metastore, call: str) -> None:
    if call == "alter_table_req" and table.generation < 4:
        pytest.skip("Hive before 4 has no such request")
    found, client = table.read_table(), table.client()
    if call == "alter_table_req":
        request = api.AlterTableRequest(dbName=table.database, tableName="t", table=found, catName="hive")
        client.alter_table_req(request)
    else:
        getattr(client, call)(table.database, "t", found, *([False] if call.endswith("cascade") else []))
    assert shown(table.parameters()) == {"numRows": "7", "rawDataSize": "77", **COUNTED}


def test_a_rename_changes_no_statistics(table: Metastore) -> None:
    """Hive before 4 counts the files, as at any other alter."""
    found = table.read_table()
    found.tableName = "renamed"
    table.client().alter_table(table.database, "t", found)
    counted = {"numRows": "7", "rawDataSize": "77", **COUNTED}
    assert shown(table.parameters("renamed")) == table.expects(STATED, {"hive-2.3": counted, "hive-3.1": counted})


def test_a_place_where_nothing_is_has_no_files(metastore: Metastore, tmp_path: Path) -> None:
    fill(tmp_path / "t")
    make(metastore, tmp_path / "t")
    (tmp_path / "t").rename(tmp_path / "gone")
    assert alter(metastore, None, **STATED) == {"numRows": "7", "rawDataSize": "77", "numFiles": "0", "totalSize": "0"}


def test_a_partitioned_table_is_not_counted(metastore: Metastore, tmp_path: Path) -> None:
    fill(tmp_path / "t")
    make(metastore, tmp_path / "t", keys=("k",))
    assert alter(metastore, None, **STATED) == STATED


@pytest.mark.parametrize("given", [None, QUIET, TASK, USER])
def test_sizes_that_are_no_numbers_are_not_stored(
    our_metastore: Metastore, tmp_path: Path, given: Mapping[str, str] | None
) -> None:
    """Flink's ANALYZE sends -1; where files are not counted, Hive stores it."""
    fill(tmp_path / "t")
    make(our_metastore, tmp_path / "t")
    alter(our_metastore, QUIET, **STATED)
    found = alter(our_metastore, given, numFiles="-1", totalSize="-1")
    expected = STATED if given is QUIET else COUNTED
    assert (found["numFiles"], found["totalSize"]) == (expected["numFiles"], expected["totalSize"])


def test_a_new_table_over_files_has_them_counted(metastore: Metastore, tmp_path: Path) -> None:
    fill(tmp_path / "t")
    make(metastore, tmp_path / "t", {"COLUMN_STATS_ACCURATE": MARK, "numRows": "7"})
    assert shown(metastore.parameters()) == {"numRows": "7", **COUNTED}


def test_a_new_table_over_nothing_keeps_what_it_says(metastore: Metastore, tmp_path: Path) -> None:
    make(metastore, tmp_path / "t", {"COLUMN_STATS_ACCURATE": MARK, "numRows": "7"})
    assert shown(metastore.parameters()) == {"numRows": "7", "COLUMN_STATS_ACCURATE": MARK}


@pytest.mark.parametrize("keys", [(), ("k",)], ids=["plain", "partitioned"])
@pytest.mark.parametrize("files", [False, True], ids=["empty", "over files"])
def test_a_table_that_is_made_empty_says_so(metastore: Metastore, tmp_path: Path, keys: Any, files: bool) -> None:
    """Hive 4's CREATE TABLE: every INSERT adds to the counts from there on."""
    if metastore.generation < 4:
        pytest.skip("Hive before 4 does not know the wish")
    if files:
        fill(tmp_path / "t")
    wish = json.dumps({"enabled": True, "columnNames": ["l"], "isIcebergTable": False}).encode()
    dictionary = api.ObjectDictionary(values={"setStatsStateForCreateTable": [wish]})
    make(metastore, tmp_path / "t", keys=keys, dictionary=dictionary)
    counts = dict.fromkeys(("numRows", "numFiles", "totalSize", "rawDataSize"), "0")
    over_files = {} if keys else COUNTED
    assert shown(metastore.parameters()) == (over_files if files else {**counts, "COLUMN_STATS_ACCURATE": MARK})


def test_a_wish_that_is_none_is_refused(our_metastore: Metastore, tmp_path: Path) -> None:
    dictionary = api.ObjectDictionary(values={"setStatsStateForCreateTable": [b"?"]})
    with pytest.raises(api.MetaException, match="setStatsStateForCreateTable of table t must be JSON"):
        make(our_metastore, tmp_path / "t", dictionary=dictionary)


def test_a_table_like_another_does_not_say_so(metastore: Metastore, tmp_path: Path) -> None:
    make(metastore, tmp_path / "t", {"created_with_ctlt": "true"})
    assert ("created_with_ctlt" in metastore.parameters()) == (metastore.flavour in ("hive-2.3", "hive-3.1"))


@pytest.fixture
def partitioned(metastore: Metastore, tmp_path: Path) -> Metastore:
    """A table with one partition, whose parameters say more than what lies at its place."""
    fill(tmp_path / "t" / "k=a")
    make(metastore, tmp_path / "t", keys=("k",))
    metastore.add_partitions(("a",), columns=COLUMNS)
    return metastore


def partition(metastore: Metastore) -> Any:
    """The partition as it is stored."""
    return metastore.client().get_partition(metastore.database, "t", ["a"])


def alter_partition(metastore: Metastore, given: Mapping[str, str] | None, **changed: str) -> dict[str, str]:
    """Alter the partition's parameters; what they say of statistics then."""
    found, client = partition(metastore), metastore.client()
    found.parameters |= changed
    client.alter_partition_with_environment_context(metastore.database, "t", found, context(given))
    return shown(partition(metastore).parameters)


def test_files_of_an_added_partition_are_counted(partitioned: Metastore) -> None:
    assert shown(partition(partitioned).parameters) == COUNTED


@pytest.mark.parametrize("given", [None, USER, TASK], ids=["nothing said", "by a user", "by a task"])
@pytest.mark.parametrize("size", ["99", "100"], ids=["same sizes", "other sizes"])
def test_a_partition_of_the_same_sizes_has_the_same_rows(
    partitioned: Metastore, given: Mapping[str, str] | None, size: str
) -> None:
    assert alter_partition(partitioned, QUIET, **STATED) == STATED
    found = alter_partition(partitioned, given, totalSize=size)
    assert (found["totalSize"], found["numFiles"]) == (("99", "3") if size == "99" else ("115", "2"))
    keeps = given is TASK or (given is None and size == "99")
    assert found.get("COLUMN_STATS_ACCURATE") == (MARK if keeps else None)


def test_a_partition_that_leaves_its_sizes_out_is_counted(partitioned: Metastore) -> None:
    alter_partition(partitioned, QUIET, **STATED)
    found = partition(partitioned)
    del found.parameters["totalSize"]
    partitioned.client().alter_partitions(partitioned.database, "t", [found])
    assert shown(partition(partitioned).parameters) == {"numRows": "7", "rawDataSize": "77", **COUNTED}


def test_what_an_engine_appends_to_a_table_is_not_answered_from_statistics(
    our_metastore: Metastore, tmp_path: Path
) -> None:
    """As Spark does it: files come, and the table is altered with the numbers that it had."""
    fill(tmp_path / "t")
    make(our_metastore, tmp_path / "t")
    alter(our_metastore, TASK, numRows="1")
    client = our_metastore.client()
    given = statistics_of("l", numNulls=0, numDVs=1)
    client.update_table_column_statistics(statistics(our_metastore, given))
    address, name = f"thrift://127.0.0.1:{our_metastore.port}", f"{our_metastore.database}.t"
    with connect(address) as asked:
        assert asked.table(name).count().exact
    (tmp_path / "t" / "more.parquet").write_bytes(bytes(5))
    alter(our_metastore, None)
    with connect(address) as asked:
        assert not asked.table(name).count().exact
    more = statistics_of("l", numNulls=2, numDVs=3)
    assert client.update_table_column_statistics(statistics(our_metastore, more))
    assert our_metastore.parameters()["totalSize"] == "120"


def test_partitions_to_which_an_engine_appends_are_not_answered_from_statistics(
    our_metastore: Metastore, tmp_path: Path
) -> None:
    """As Spark does it: files come to a partition that is there, and only the table is altered."""
    for key in ("a", "b", "gone"):
        fill(tmp_path / "t" / f"k={key}")
    make(our_metastore, tmp_path / "t", keys=("k",))
    our_metastore.add_partitions(("a",), ("b",), ("gone",), ("empty",), columns=COLUMNS)
    client, database = our_metastore.client(), our_metastore.database
    for found in client.get_partitions(database, "t", -1):
        found.parameters |= {"COLUMN_STATS_ACCURATE": MARK, "numRows": "7"}
        client.alter_partition_with_environment_context(database, "t", found, context(QUIET))
    (tmp_path / "t" / "k=a" / "more.parquet").write_bytes(bytes(5))
    shutil.rmtree(tmp_path / "t" / "k=gone")

    def marks() -> dict[str, str | None]:
        found = client.get_partitions(database, "t", -1)
        return {each.values[0]: each.parameters.get("COLUMN_STATS_ACCURATE") for each in found}

    named = client.get_table(database, "t")
    named.parameters["comment"] = "said"
    client.alter_table(database, "t", named)
    assert set(marks().values()) == {MARK}  # who says something of the table says nothing of its rows
    client.alter_table(database, "t", client.get_table(database, "t"))
    assert marks() == {"a": None, "b": MARK, "empty": None, "gone": None}  # nothing was counted of the empty one
    found = client.get_partition(database, "t", ["a"]).parameters
    assert (found["numFiles"], found["totalSize"], found["numRows"]) == ("3", "120", "7")


def test_a_partitioned_table_to_which_an_engine_appends_is_not_accurate(
    our_metastore: Metastore, tmp_path: Path
) -> None:
    """Nor is it after an alter by somebody who says nothing of it; Hive leaves the mark as it is."""
    make(our_metastore, tmp_path / "t", keys=("k",))
    alter(our_metastore, QUIET, **STATED)
    assert alter(our_metastore, None, comment="said") == STATED
    assert alter(our_metastore, QUIET) == STATED
    assert alter(our_metastore, None, numRows="8") == {**STATED, "numRows": "8"}
    unmarked = {key: value for key, value in STATED.items() if key != "COLUMN_STATS_ACCURATE"}
    assert alter(our_metastore, None) == {**unmarked, "numRows": "8"}


def test_a_table_that_gets_or_loses_partitions_is_not_accurate(our_metastore: Metastore, tmp_path: Path) -> None:
    """Its own numbers are those of other partitions then; Hive leaves the mark as it is."""
    make(our_metastore, tmp_path / "t", keys=("k",))
    client, of = our_metastore.client(), our_metastore.database

    def add() -> None:
        our_metastore.add_partitions(["1"], columns=COLUMNS)

    def move() -> None:
        our_metastore.table("other", columns=COLUMNS, keys=["k"])
        client.exchange_partition({"k": "1"}, of, "t", of, "other")

    def drop() -> None:
        client.drop_partition(of, "t", ["1"], True)

    for change in (add, drop, add, move):
        alter(our_metastore, QUIET, **STATED)
        assert "COLUMN_STATS_ACCURATE" in client.get_table(of, "t").parameters
        change()
        found = client.get_table(of, "t").parameters
        assert ("COLUMN_STATS_ACCURATE" in found, found["numRows"]) == (False, STATED["numRows"])


def test_a_table_whose_partitions_change_their_rows_is_not_accurate(our_metastore: Metastore, tmp_path: Path) -> None:
    """Its own row count is not exact then; Hive leaves the mark as it is."""
    make(our_metastore, tmp_path / "t", keys=("k",))
    our_metastore.add_partitions(["a"], columns=COLUMNS)
    client, of = our_metastore.client(), our_metastore.database

    def state() -> None:
        alter_partition(our_metastore, QUIET, **STATED)

    def truncate() -> None:
        client.truncate_table(of, "t", ["k=a"])

    def truncate_none() -> None:
        client.truncate_table(of, "t", [])
        client.truncate_table(of, "t", ["k=missing"])

    def append() -> None:
        alter_partition(our_metastore, TASK, numRows="8", totalSize="100")

    def append_quietly() -> None:
        alter_partition(our_metastore, None, totalSize="101")

    def rename() -> None:
        client.rename_partition(of, "t", ["a"], partition_of("b"))
        client.rename_partition(of, "t", ["b"], partition_of("a"))

    def partition_of(value: str) -> Any:
        (found,) = client.get_partitions(of, "t", -1)
        found.values = [value]
        return found

    staying = ((state, True), (rename, True), (truncate_none, True))
    for change, stays in (*staying, (append, False), (append_quietly, False), (truncate, False)):
        alter(our_metastore, QUIET, **STATED)
        change()
        assert client.get_table(of, "t").parameters.get("COLUMN_STATS_ACCURATE") == (MARK if stays else None)


def test_files_are_counted_where_a_new_table_gets_its_place(metastore: Metastore, tmp_path: Path) -> None:
    """Spark's CREATE TABLE AS SELECT writes the files first, and leaves it to the metastore to say where they are."""
    client = metastore.client()
    name = f"{metastore.database}_placed"
    client.create_database(api.Database(name=name, description="", locationUri=f"file:{tmp_path}/db", parameters={}))
    fill(tmp_path / "db" / "t")
    table = api.Table(
        tableName="t",
        dbName=name,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        tableType="MANAGED_TABLE",
    )
    client.create_table_with_environment_context(table, context(None))
    found = client.get_table_req(api.GetTableRequest(dbName=name, tblName="t")).table
    client.drop_database(name, True, True)
    assert shown(found.parameters) == COUNTED

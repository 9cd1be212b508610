"""Altering tables: conditions, partitions and statistics that follow, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

_QUIET = {"DO_NOT_UPDATE_STATS": "true"}
_OLDER = ("hive-2.3", "hive-3.1")
_ON_DERBY = "Hive 4.0 compares the parameter in its database, which Derby, that it runs on here, refuses"


def _alter(metastore: Metastore, table: Any, name: str = "t", **context: str) -> None:
    """Alter a table by the call that every engine uses."""
    given = api.EnvironmentContext(properties=_QUIET | context)
    metastore.client().alter_table_with_environment_context(metastore.database, name, table, given)


def _retyped(columns: list[Any], name: str, kind: str) -> list[Any]:
    return [api.FieldSchema(name=c.name, type=kind if c.name == name else c.type, comment="") for c in columns]


@pytest.fixture
def partitioned(metastore: Metastore) -> Metastore:
    """A table with two partitions; one has statistics of two columns."""
    metastore.table(columns={"l": "bigint", "s": "string"}, keys=("k",))
    metastore.add_partitions(("a",), ("b",), columns={"l": "bigint", "s": "string"})
    given = statistics(metastore, statistics_of("l"), statistics_of("s"), partition="k=a")
    metastore.client().update_partition_column_statistics(given)
    return metastore


def _columns(metastore: Metastore) -> list[list[str]]:
    found = metastore.client().get_partitions(metastore.database, "t", -1)
    return [[column.name for column in each.sd.cols] for each in found]


def test_an_alter_reaches_partitions_only_when_it_cascades(partitioned: Metastore) -> None:
    table = partitioned.read_table()
    table.sd.cols = [*table.sd.cols, api.FieldSchema(name="extra", type="int", comment="")]
    _alter(partitioned, table)
    assert _columns(partitioned) == [["l", "s"], ["l", "s"]]
    table.sd.cols = [*table.sd.cols, api.FieldSchema(name="more", type="int", comment="")]
    _alter(partitioned, table, CASCADE="true")
    assert _columns(partitioned) == [["l", "s", "extra", "more"]] * 2
    assert set(of_partitions(partitioned, ["k=a"], "l", "s")["k=a"]) == {"l", "s"}


def test_a_cascade_by_its_own_call(partitioned: Metastore) -> None:
    table = partitioned.read_table()
    table.sd.cols = [*table.sd.cols, api.FieldSchema(name="extra", type="int", comment="")]
    partitioned.client().alter_table_with_cascade(partitioned.database, "t", table, True)
    assert _columns(partitioned) == [["l", "s", "extra"]] * 2


@pytest.mark.parametrize("cascade", ["true", "false"])
def test_partitions_lose_the_statistics_of_a_column_of_another_type(partitioned: Metastore, cascade: str) -> None:
    table = partitioned.read_table()
    table.sd.cols = _retyped(table.sd.cols, "l", "string")
    _alter(partitioned, table, CASCADE=cascade)
    kept = {"l", "s"} if partitioned.flavour == "hive-2.3" and cascade == "false" else {"s"}
    assert set(of_partitions(partitioned, ["k=a"], "l", "s")["k=a"]) == kept


@pytest.mark.parametrize("cascade", ["true", "false"])
def test_files_are_looked_at_again_when_a_column_has_lost_its_statistics(
    our_metastore: Metastore, cascade: str
) -> None:
    mark = {"hmstats.fingerprint": "of an analysis"}
    our_metastore.table(columns={"l": "bigint", "s": "string"}, keys=("k",), parameters=mark)
    partition = our_metastore.partition("a", columns={"l": "bigint", "s": "string"})
    partition.parameters = mark
    our_metastore.client().add_partition(partition)
    table = our_metastore.read_table()
    for kind, is_kept in (("bigint", True), ("string", False)):
        table.sd.cols = _retyped(table.sd.cols, "l", kind)
        _alter(our_metastore, table, CASCADE=cascade)
        (found,) = our_metastore.client().get_partitions(our_metastore.database, "t", -1)
        assert [mark.keys() <= each.keys() for each in (found.parameters, our_metastore.parameters())] == [is_kept] * 2


def test_a_type_written_in_another_way_keeps_its_statistics(our_metastore: Metastore) -> None:
    """Hive compares the texts; `decimal` is what it makes of `decimal(10,0)` itself."""
    our_metastore.table(columns={"d": "decimal", "l": "bigint"})
    decimal = api.DecimalColumnStatsData(numNulls=0, numDVs=3)
    given = statistics(our_metastore, statistics_of("l"))
    given.statsObj.append(
        api.ColumnStatisticsObj(
            colName="d", colType="decimal", statsData=api.ColumnStatisticsData(decimalStats=decimal)
        )
    )
    our_metastore.client().update_table_column_statistics(given)
    table = our_metastore.read_table()
    table.sd.cols = _retyped(table.sd.cols, "d", "DECIMAL(10, 0)")
    _alter(our_metastore, table)
    assert set(of_table(our_metastore, "d", "l")) == {"d", "l"}
    table.sd.cols = _retyped(table.sd.cols, "d", "decimal(12,2)")
    _alter(our_metastore, table)
    assert set(of_table(our_metastore, "d", "l")) == {"l"}


def test_a_rename_of_a_partitioned_table_carries_all_statistics(partitioned: Metastore) -> None:
    """Hive 2.3 loses those of the partitions."""
    client = partitioned.client()
    table = partitioned.read_table()
    table.tableName = "renamed"
    _alter(partitioned, table)
    request = api.PartitionsStatsRequest(
        dbName=partitioned.database, tblName="renamed", colNames=["l", "s"], partNames=["k=a"]
    )
    found = client.get_partitions_statistics_req(request).partStats
    kept = set() if partitioned.flavour == "hive-2.3" else {"l", "s"}
    assert {each.colName for each in found.get("k=a", ())} == kept
    assert client.get_partition_names(partitioned.database, "renamed", -1) == ["k=a", "k=b"]


def test_a_rename_to_another_database_carries_the_statistics(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l")))
    other = f"{metastore.database}_other"
    client.create_database(api.Database(name=other, description="", parameters={}))
    table = metastore.read_table()
    table.dbName = other
    _alter(metastore, table)
    assert client.get_all_tables(metastore.database) == []
    request = api.TableStatsRequest(dbName=other, tblName="t", colNames=["l"])
    assert [each.colName for each in client.get_table_statistics_req(request).tableStats] == ["l"]


def test_an_alter_that_leaves_sizes_out_keeps_them(our_metastore: Metastore) -> None:
    """Trino's ANALYZE sends the rows alone; Hive counts the files again."""
    sizes = {"numFiles": "3", "totalSize": "999", "rawDataSize": "77"}
    our_metastore.table(parameters={"numRows": "5", "impala.lastComputeStatsTime": "1", **sizes})
    table = our_metastore.read_table()
    table.parameters = {"numRows": "6", "spark.sql.statistics.numRows": "6"}
    _alter(our_metastore, table)
    found = our_metastore.parameters()
    assert sizes.items() <= found.items()
    assert (found["numRows"], found["spark.sql.statistics.numRows"]) == ("6", "6")
    assert "impala.lastComputeStatsTime" not in found


def test_a_table_that_is_as_expected_is_altered(metastore: Metastore) -> None:
    """Iceberg's commit."""
    if metastore.flavour == "hive-4.0":
        pytest.skip(_ON_DERBY)
    metastore.table(parameters={"metadata_location": "one"})
    table = metastore.read_table()
    table.parameters = table.parameters | {"metadata_location": "two"}
    _alter(metastore, table, expected_parameter_key="metadata_location", expected_parameter_value="one")
    assert metastore.parameters()["metadata_location"] == "two"


def test_a_table_that_is_not_as_expected_is_left_as_it_is(metastore: Metastore) -> None:
    if metastore.flavour == "hive-3.1":
        pytest.skip("Hive 3.1 knows no condition")
    metastore.table(parameters={"metadata_location": "one"})
    table = metastore.read_table()
    table.parameters = table.parameters | {"metadata_location": "two"}
    sentence = "The table has been modified. The parameter value for key 'metadata_location' is 'one'"
    with pytest.raises(api.MetaException, match=sentence):
        _alter(metastore, table, expected_parameter_key="metadata_location", expected_parameter_value="zero")
    with pytest.raises(api.MetaException, match="New value for expected key other is not set"):
        _alter(metastore, table, expected_parameter_key="other", expected_parameter_value="zero")
    assert metastore.parameters()["metadata_location"] == "one"


def test_a_commit_takes_the_mark_of_accuracy_away(metastore: Metastore) -> None:
    """Iceberg's writers send the mark back as they read it, with rows that nobody analysed. Hive keeps it."""
    mark = '{"BASIC_STATS":"true"}'
    metastore.table(parameters={"metadata_location": "one"})
    for told, kept in (({"COLUMN_STATS_ACCURATE": mark, "numRows": "5"}, True), ({"metadata_location": "two"}, False)):
        table = metastore.read_table()
        table.parameters = table.parameters | told
        _alter(metastore, table)
        assert ("COLUMN_STATS_ACCURATE" in metastore.parameters()) is (kept or metastore.flavour.startswith("hive"))
    assert metastore.parameters()["numRows"] == "5"


def test_of_racing_commits_one_wins(our_metastore: Metastore) -> None:
    metastore = our_metastore
    metastore.table(parameters={"metadata_location": "0", "numFiles": "0", "totalSize": "0"})
    clients = [metastore.client() for _ in range(4)]
    for turn in range(5):
        tables = [metastore.read_table() for _ in clients]
        for writer, table in enumerate(tables):
            table.parameters["metadata_location"] = f"{turn + 1}-{writer}"
        before = metastore.parameters()["metadata_location"]
        expected = {"expected_parameter_key": "metadata_location", "expected_parameter_value": before}
        context = api.EnvironmentContext(properties=_QUIET | expected)

        def commit(pair: tuple[Any, Any], context: Any = context) -> str | None:
            client, table = pair
            try:
                client.alter_table_with_environment_context(metastore.database, "t", table, context)
            except api.MetaException:
                return None
            return str(table.parameters["metadata_location"])

        with ThreadPoolExecutor(len(clients)) as pool:
            won = [each for each in pool.map(commit, zip(clients, tables, strict=True)) if each]
        assert won == [metastore.parameters()["metadata_location"]]


def test_a_request_alters_likewise(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("Hive before 4 has no such request")
    metastore.table(parameters={"version": "1"})
    table = metastore.read_table()
    table.parameters["version"] = "2"
    request = api.AlterTableRequest(
        dbName=metastore.database,
        tableName="t",
        table=table,
        environmentContext=api.EnvironmentContext(properties=dict(_QUIET)),
        catName="hive",
    )
    metastore.client().alter_table_req(request)
    assert metastore.parameters()["version"] == "2"
    request.environmentContext.properties |= {"expected_parameter_key": "version", "expected_parameter_value": "1"}
    with pytest.raises(api.MetaException, match="The table has been modified"):
        metastore.client().alter_table_req(request)


def test_what_cannot_be_altered(metastore: Metastore) -> None:
    metastore.table()
    metastore.table("taken")
    taken, nowhere, keyed = metastore.read_table(), metastore.read_table(), metastore.read_table()
    taken.tableName = "taken"
    nowhere.dbName = "nope"
    keyed.partitionKeys = [api.FieldSchema(name="k", type="string", comment="")]
    for changed in (taken, nowhere, keyed):
        with pytest.raises((api.InvalidOperationException, api.MetaException)):  # the second for a database, in 4.0
            _alter(metastore, changed)
    assert sorted(metastore.client().get_all_tables(metastore.database)) == ["t", "taken"]
    assert metastore.read_table().partitionKeys == []


def test_buckets_by_a_column_that_is_renamed_are_refused(metastore: Metastore) -> None:
    storage = metastore.storage({"a": "int"})
    storage.bucketCols, storage.numBuckets = ["a"], 2
    table = api.Table(tableName="t", dbName=metastore.database, owner="tester", sd=storage, parameters={})
    metastore.client().create_table(table)
    changed = metastore.read_table()
    changed.sd.cols[0].name = "b"
    if metastore.flavour in _OLDER:
        _alter(metastore, changed)
        return
    with pytest.raises(api.InvalidOperationException, match=r"Bucket columns - \[.*a.*\] doesn't match"):
        _alter(metastore, changed)


def test_an_order_among_the_parameters_is_not_kept(metastore: Metastore) -> None:
    metastore.table()
    table = metastore.read_table()
    table.parameters = table.parameters | {"DO_NOT_UPDATE_STATS": "true", "kept": "1"}
    metastore.client().alter_table(metastore.database, "t", table)
    found = metastore.parameters()
    assert ("DO_NOT_UPDATE_STATS" in found, found["kept"]) == (False, "1")


@pytest.mark.parametrize("said", [0, 1_000_000_000])
def test_the_time_of_creation_is_the_servers_of_a_table_and_the_clients_of_a_partition(
    metastore: Metastore, said: int
) -> None:
    """Trino's alters say 0."""
    metastore.table(keys=("k",))
    metastore.add_partitions(("a",))
    client, table = metastore.client(), metastore.read_table()
    part, created = client.get_partition(metastore.database, "t", ["a"]), table.createTime
    table.createTime = part.createTime = said
    _alter(metastore, table)
    client.alter_partition(metastore.database, "t", part)
    part = client.get_partition(metastore.database, "t", ["a"])
    assert (metastore.read_table().createTime, part.createTime) == (created, said)

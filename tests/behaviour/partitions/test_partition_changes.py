"""Partitions appended, renamed, exchanged and dropped by name, as specifications and by requests."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.behaviour.structs import of_partitions, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture(autouse=True)
def _a_table(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"))


def _names(metastore: Metastore, table: str = "t") -> list[str]:
    found: list[str] = metastore.client().get_partition_names(metastore.database, table, -1)
    return found


def _folder(storage: Any) -> Path:
    return Path(urlsplit(storage.location).path)


def test_an_appended_partition_has_the_tables_storage(metastore: Metastore) -> None:
    client = metastore.client()
    appended = client.append_partition(metastore.database, "t", ["a", "1"])
    client.append_partition_by_name(metastore.database, "t", "k=b/j=2")
    assert appended.values == ["a", "1"]
    assert _names(metastore) == ["k=a/j=1", "k=b/j=2"]
    table = metastore.read_table()
    for each in client.get_partitions(metastore.database, "t", -1):
        assert [column.name for column in each.sd.cols] == [column.name for column in table.sd.cols]
        assert each.sd.location.startswith(f"{table.sd.location}/k=")
        assert _folder(each.sd).is_dir()


def test_what_cannot_be_appended(metastore: Metastore) -> None:
    client = metastore.client()
    client.append_partition(metastore.database, "t", ["a", "1"])
    with pytest.raises(api.AlreadyExistsException):
        client.append_partition(metastore.database, "t", ["a", "1"])
    with pytest.raises(api.InvalidObjectException):
        client.append_partition(metastore.database, "nope", ["a", "1"])
    with pytest.raises(api.MetaException):
        client.append_partition(metastore.database, "t", ["a"])
    with pytest.raises((api.InvalidObjectException, api.MetaException)):
        client.append_partition_by_name(metastore.database, "t", "k=a")
    assert _names(metastore) == ["k=a/j=1"]


def test_a_renamed_partition_carries_its_statistics_and_files(metastore: Metastore) -> None:
    """Hive 2.3 loses the statistics."""
    metastore.add_partitions(("a", "1"), ("b", "1"))
    client = metastore.client()
    client.update_partition_column_statistics(statistics(metastore, statistics_of("l"), partition="k=a/j=1"))
    partition = client.get_partition(metastore.database, "t", ["a", "1"])
    (_folder(partition.sd) / "part-0").write_text("rows")
    partition.values = ["c/d", "1"]
    partition.parameters["own"] = "yes"
    client.rename_partition(metastore.database, "t", ["a", "1"], partition)
    assert _names(metastore) == ["k=b/j=1", "k=c%2Fd/j=1"]
    renamed = client.get_partition(metastore.database, "t", ["c/d", "1"])
    assert renamed.parameters["own"] == "yes"
    if metastore.flavour != "hive-4.0":  # a table of Hive 4 is external: its files stay
        assert renamed.sd.location.endswith("/k=c%2Fd/j=1")
    assert (_folder(renamed.sd) / "part-0").read_text() == "rows"
    if metastore.flavour != "hive-2.3":
        assert set(of_partitions(metastore, ["k=c%2Fd/j=1"], "l")["k=c%2Fd/j=1"]) == {"l"}
    assert of_partitions(metastore, ["k=a/j=1"], "l") == {}


def test_the_parameters_of_a_renamed_partition(metastore: Metastore) -> None:
    """They are those that the call brings. Sizes that it leaves out are counted by Hive, and stay here."""
    metastore.add_partitions(("a", "1"))
    client = metastore.client()
    partition = client.get_partition(metastore.database, "t", ["a", "1"])
    partition.parameters |= {"gone": "1", "numRows": "3", "numFiles": "7", "totalSize": "70"}
    given = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})
    client.alter_partition_with_environment_context(metastore.database, "t", partition, given)
    partition.values, partition.parameters = ["b", "1"], {"own": "yes"}
    client.rename_partition(metastore.database, "t", ["a", "1"], partition)
    found = client.get_partition(metastore.database, "t", ["b", "1"]).parameters
    assert {"own", "numFiles", "totalSize"} <= found.keys()
    assert found.keys().isdisjoint({"gone", "numRows", "COLUMN_STATS_ACCURATE"})
    assert (found["numFiles"], found["totalSize"]) == (("7", "70") if metastore.ours else ("0", "0"))


def test_what_cannot_be_renamed(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("b", "1"))
    client = metastore.client()
    partition = client.get_partition(metastore.database, "t", ["a", "1"])
    partition.values = ["b", "1"]
    with pytest.raises(api.InvalidOperationException):
        client.rename_partition(metastore.database, "t", ["a", "1"], partition)
    partition.values = ["z", "1"]
    with pytest.raises(api.InvalidOperationException):
        client.rename_partition(metastore.database, "t", ["nope", "1"], partition)
    assert _names(metastore) == ["k=a/j=1", "k=b/j=1"]


def test_a_rename_without_old_values_is_an_alter(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"))
    client = metastore.client()
    partition = client.get_partition(metastore.database, "t", ["a", "1"])
    partition.parameters["own"] = "yes"
    client.rename_partition(metastore.database, "t", [], partition)
    assert client.get_partition(metastore.database, "t", ["a", "1"]).parameters["own"] == "yes"


def test_exchanged_partitions_carry_their_statistics(metastore: Metastore) -> None:
    """Hive loses them; before 4 it moves one partition, which it does not tell."""
    metastore.table("u", keys=("k", "j"))
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    client.update_partition_column_statistics(statistics(metastore, statistics_of("l"), partition="k=a/j=2"))
    for each in client.get_partitions_ps(metastore.database, "t", ["a"], -1):
        (_folder(each.sd) / "part-0").write_text(each.values[1])
    spec = {"k": "a", "j": ""}
    moved = client.exchange_partitions(spec, metastore.database, "t", metastore.database, "u")
    assert sorted(each.values for each in moved) == [["a", "1"], ["a", "2"]]
    assert (_names(metastore), _names(metastore, "u")) == (["k=b/j=1"], ["k=a/j=1", "k=a/j=2"])
    for each in client.get_partitions(metastore.database, "u", -1):
        assert (_folder(each.sd) / "part-0").read_text() == each.values[1]
        assert "/u/k=a/" in each.sd.location
    if metastore.ours:
        request = api.PartitionsStatsRequest(
            dbName=metastore.database, tblName="u", colNames=["l"], partNames=["k=a/j=2"]
        )
        found = client.get_partitions_statistics_req(request).partStats
        assert [each.colName for each in found["k=a/j=2"]] == ["l"]


def test_what_cannot_be_exchanged(metastore: Metastore) -> None:
    metastore.table("u", keys=("k", "j"))
    metastore.table("other", columns={"x": "int"}, keys=("k", "j"))
    metastore.add_partitions(("a", "1"))
    metastore.add_partitions(("a", "1"), table="u")
    client = metastore.client()
    here = metastore.database
    spec = {"k": "a", "j": "1"}
    for source, target in (("t", "u"), ("t", "other"), ("nope", "u"), ("t", "nope")):
        with pytest.raises((api.MetaException, TApplicationException)):  # an internal error of Hive 2.3
            client.exchange_partitions(spec, here, source, here, target)
    with pytest.raises(api.MetaException):
        client.exchange_partitions({"k": "z", "j": "1"}, here, "t", here, "u")
    assert (_names(metastore), _names(metastore, "u")) == (["k=a/j=1"], ["k=a/j=1"])


def test_partitions_dropped_by_request(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"))
    client = metastore.client()
    missing = api.DropPartitionsRequest(
        dbName=metastore.database,
        tblName="t",
        parts=api.RequestPartsSpec(names=["k=a/j=1", "k=nope/j=1"]),
        ifExists=False,
    )
    with pytest.raises(api.NoSuchObjectException):
        client.drop_partitions_req(missing)
    assert len(_names(metastore)) == 3
    missing.ifExists = True
    dropped = client.drop_partitions_req(missing).partitions
    assert [each.values for each in dropped] == [["a", "1"]]
    silent = api.DropPartitionsRequest(
        dbName=metastore.database, tblName="t", parts=api.RequestPartsSpec(names=["k=b/j=1"]), needResult=False
    )
    assert client.drop_partitions_req(silent).partitions is None
    assert _names(metastore) == ["k=a/j=2"]


def test_missing_partitions_fail_a_drop_that_does_not_say_otherwise(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"))
    request = api.DropPartitionsRequest(
        dbName=metastore.database, tblName="t", parts=api.RequestPartsSpec(names=["k=a/j=1", "k=nope/j=1"])
    )
    with pytest.raises(api.NoSuchObjectException):
        metastore.client().drop_partitions_req(request)
    assert _names(metastore) == ["k=a/j=1"]


def test_answers_of_changes_leave_columns_out(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("skipColumnSchemaForPartition came with Hive 4")
    client, table = metastore.client(), {"dbName": metastore.database, "tblName": "t"}
    new = [metastore.partition("a", "1"), metastore.partition("a", "2")]
    adding = api.AddPartitionsRequest(**table, parts=new, ifNotExists=False, skipColumnSchemaForPartition=True)
    added = client.add_partitions_req(adding).partitions
    assert [(each.values, each.sd.cols) for each in added] == [(["a", "1"], []), (["a", "2"], [])]
    assert all(each.sd.cols for each in client.get_partitions(metastore.database, "t", -1))
    names = api.RequestPartsSpec(names=["k=a/j=2"])
    dropping = api.DropPartitionsRequest(**table, parts=names, skipColumnSchemaForPartition=True)
    (dropped,) = client.drop_partitions_req(dropping).partitions
    assert (dropped.values, dropped.sd.cols) == (["a", "2"], [])


def test_partitions_dropped_by_a_filter(our_metastore: Metastore) -> None:
    our_metastore.table("f", keys=("k", "j"))
    our_metastore.add_partitions(("a", "1"), ("a", "2"), ("b", "1"), table="f")

    def drop(*expressions: bytes) -> list[list[str]]:
        wanted = [api.DropPartitionsExpr(expr=each) for each in expressions]
        request = api.DropPartitionsRequest(
            dbName=our_metastore.database, tblName="f", parts=api.RequestPartsSpec(exprs=wanted)
        )
        return [each.values for each in our_metastore.client().drop_partitions_req(request).partitions]

    for unreadable in (b"\x01\x00java.util", b""):
        with pytest.raises(api.MetaException, match=r"must be named or found by values|must not be empty"):
            drop(unreadable)
    assert drop(b"k = 'a' and j = '2'", b"k = 'b'") == [["a", "2"], ["b", "1"]]
    assert _names(our_metastore, "f") == ["k=a/j=1"]


def test_a_partition_dropped_by_name_with_its_files(metastore: Metastore) -> None:
    metastore.add_partitions(("a", "1"), ("a", "2"))
    client = metastore.client()
    folders = [_folder(each.sd) for each in client.get_partitions(metastore.database, "t", -1)]
    assert client.drop_partition_by_name(metastore.database, "t", "k=a/j=1", True)
    assert _names(metastore) == ["k=a/j=2"]
    with pytest.raises(api.NoSuchObjectException):
        client.drop_partition_by_name(metastore.database, "t", "k=a/j=1", True)
    if metastore.flavour == "hive-4.0":
        return
    assert [folder.exists() for folder in folders] == [False, True]
    assert client.drop_partition_by_name(metastore.database, "t", "k=a/j=2", True)
    assert not folders[0].parent.exists()


def test_partitions_added_as_specifications(our_metastore: Metastore) -> None:
    """Hive wants names of catalogs where plain clients send none."""
    metastore = our_metastore
    metastore.table("s", keys=("k", "j"))
    listed = api.PartitionSpec(
        catName="hive",
        dbName=metastore.database,
        tableName="s",
        partitionList=api.PartitionListComposingSpec(partitions=[metastore.partition("a", "1", table="s")]),
    )
    root = metastore.read_table("s").sd.location
    storage = metastore.storage()
    storage.location = f"{root}/shared/"
    without = api.PartitionWithoutSD(values=["b", "2"], relativePath="two", parameters={"own": "yes"}, createTime=0)
    shared = api.PartitionSpec(
        catName="hive",
        dbName=metastore.database,
        tableName="s",
        sharedSDPartitionSpec=api.PartitionSpecWithSharedSD(partitions=[without], sd=storage),
    )
    client = metastore.client()
    assert client.add_partitions_pspec([listed]) == 1
    assert client.add_partitions_pspec([shared]) == 1
    assert client.get_partition(metastore.database, "s", ["b", "2"]).sd.location == f"{root}/shared/two"
    found = client.get_partitions_pspec(metastore.database, "s", -1)
    values = [each.values for spec in found for each in spec.partitionList.partitions]
    assert values == [["a", "1"], ["b", "2"]]
    chosen = client.get_part_specs_by_filter(metastore.database, "s", "k = 'b'", -1)
    assert [each.values for spec in chosen for each in spec.partitionList.partitions] == [["b", "2"]]


def test_values_of_keys(metastore: Metastore) -> None:
    """Hive's order is its database's; with a filter it answers every key."""
    metastore.add_partitions(("b", "1"), ("a", "1"), ("a", "2"), ("Z", "1"))
    key = api.FieldSchema(name="k", type="string", comment="")
    request = api.PartitionValuesRequest(dbName=metastore.database, tblName="t", partitionKeys=[key])
    client = metastore.client()
    rows = [each.row for each in client.get_partition_values(request).partitionValues]
    assert sorted(rows) == [["Z"], ["a"], ["b"]]
    if not metastore.ours:
        return
    assert rows == [["Z"], ["a"], ["b"]]
    request.filter, request.ascending, request.applyDistinct = "j = '1'", False, False
    assert [each.row for each in client.get_partition_values(request).partitionValues] == [["b"], ["a"], ["Z"]]
    request.partitionKeys = [api.FieldSchema(name="nope", type="string", comment="")]
    with pytest.raises(api.MetaException):
        client.get_partition_values(request)


def test_a_value_of_a_key_is_not_escaped(metastore: Metastore) -> None:
    """Hive takes it from the partition's name, as it stands there."""
    metastore.add_partitions(("a/b", "1"))
    key = api.FieldSchema(name="k", type="string", comment="")
    request = api.PartitionValuesRequest(dbName=metastore.database, tblName="t", partitionKeys=[key])
    rows = [each.row for each in metastore.client().get_partition_values(request).partitionValues]
    assert rows == [["a/b"] if metastore.ours else ["a%2Fb"]]


def test_partitions_by_expression(our_metastore: Metastore) -> None:
    our_metastore.table("e", keys=("k", "j"))
    our_metastore.add_partitions(("a", "1"), ("b", "1"), table="e")
    client = our_metastore.client()
    request = api.PartitionsByExprRequest(dbName=our_metastore.database, tblName="e", expr=b"k = 'b'")
    found = client.get_partitions_by_expr(request)
    assert ([each.values for each in found.partitions], found.hasUnknownPartitions) == ([["b", "1"]], False)
    assert client.get_partition_names_req(request) == ["k=b/j=1"]
    request.expr = b"\xac\xed\x00\x05sr\x00"
    for ask in (client.get_partitions_by_expr, client.get_partitions_spec_by_expr):
        with pytest.raises(TApplicationException, match="cannot be read") as refused:
            ask(request)
        assert refused.value.type == TApplicationException.UNKNOWN_METHOD  # Hive's clients then look themselves


def test_names_are_sorted_by_their_bytes(our_metastore: Metastore) -> None:
    our_metastore.table("s", keys=("k",))
    our_metastore.add_partitions(*((value,) for value in ("b", "B", "_", "a-1", "a1", "ä", "10", "9")), table="s")
    names = _names(our_metastore, "s")
    assert names == sorted(names, key=str.encode)
    assert [
        f"k={each.values[0]}" for each in our_metastore.client().get_partitions(our_metastore.database, "s", -1)
    ] == names
    for table in ("b_1", "ba", "b1"):
        our_metastore.table(table)
    assert our_metastore.client().get_tables(our_metastore.database, "b*") == ["b1", "b_1", "ba"]


def test_partitions_added_with_counts_of_a_task_are_accurate(metastore: Metastore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("12345")
    if metastore.generation < 4:
        pytest.skip("the field came with Hive 4")
    new = metastore.partition("counted", "1")
    new.parameters = {"numRows": "7"}
    new.sd.location = f"file:{tmp_path}"
    request = api.AddPartitionsRequest(
        catName="hive",
        dbName=metastore.database,
        tblName="t",
        parts=[new],
        ifNotExists=False,
        environmentContext=api.EnvironmentContext(properties={"STATS_GENERATED": "TASK"}),
    )
    metastore.client().add_partitions_req(request)
    found = metastore.client().get_partition(metastore.database, "t", ["counted", "1"]).parameters
    assert json.loads(found["COLUMN_STATS_ACCURATE"]) == {"BASIC_STATS": "true"}
    assert (found["numRows"], found["numFiles"], found["totalSize"]) == ("7", "1", "5")


def test_partitions_sent_without_columns_have_their_tables(metastore: Metastore) -> None:
    """Hive's clients leave them out where `hive.metastore.client.field.schema.for.partitions` is false."""
    if metastore.generation < 4:
        pytest.skip("the fields came with Hive 4")
    metastore.table("bare", keys=["k"], columns={"a": "int", "b": "string"})
    client = metastore.client()
    about = {"catName": "hive", "dbName": metastore.database, "skipColumnSchemaForPartition": True}
    bare = [metastore.partition(each, table="bare", columns={}) for each in ("1", "2")]
    schema = [api.FieldSchema(name="a", type="int", comment=""), api.FieldSchema(name="b", type="string", comment="")]
    client.add_partitions_req(
        api.AddPartitionsRequest(tblName="bare", parts=bare, ifNotExists=False, partitionColSchema=schema, **about)
    )
    assert _columns(metastore) == {"1": ["a", "b"], "2": ["a", "b"]}
    changed = client.get_partition(metastore.database, "bare", ["1"])
    changed.sd.cols = []
    changed.parameters["seen"] = "1"
    client.alter_partitions_req(
        api.AlterPartitionsRequest(tableName="bare", partitions=[changed], partitionColSchema=schema, **about)
    )
    assert _columns(metastore) == {"1": ["a", "b"], "2": ["a", "b"]}
    assert client.get_partition(metastore.database, "bare", ["1"]).parameters["seen"] == "1"


def _columns(metastore: Metastore) -> dict[str, list[str]]:
    """The names of the columns of each partition."""
    found = metastore.client().get_partitions(metastore.database, "bare", -1)
    return {each.values[0]: [column.name for column in each.sd.cols] for each in found}

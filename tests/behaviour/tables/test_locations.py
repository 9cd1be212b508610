"""Directories of databases and managed tables are made, moved and removed wherever they lie, however written."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


def _database(metastore: Metastore, location: str, name: str = "out") -> str:
    """A database of this location; its name."""
    full = f"{metastore.database}_{name}"
    metastore.client().create_database(api.Database(name=full, description="", locationUri=location, parameters={}))
    return full


def _table(metastore: Metastore, database: str, name: str, keys: Sequence[str] = (), **values: Any) -> Any:
    """A table as it is stored."""
    storage = metastore.storage()
    storage.location = values.pop("location", None)
    table = api.Table(
        tableName=name,
        dbName=database,
        owner="tester",
        sd=storage,
        partitionKeys=[api.FieldSchema(name=key, type="string", comment="") for key in keys],
        parameters=values.pop("parameters", {}),
        tableType=values.pop("kind", "MANAGED_TABLE"),
    )
    metastore.client().create_table(table)
    return _read(metastore, database, name)


def _read(metastore: Metastore, database: str, name: str) -> Any:
    return metastore.client().get_table_req(api.GetTableRequest(dbName=database, tblName=name)).table


def _partition(metastore: Metastore, database: str, table: str, *values: str) -> Any:
    partition = metastore.partition(*values, table=table)
    partition.dbName = database
    return partition


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "file:{}/", "file://{}/."])
def test_every_spelling_of_a_location_is_answered_as_one(metastore: Metastore, tmp_path: Path, form: str) -> None:
    database = _database(metastore, form.format(tmp_path / "d"), f"form{len(form)}")
    assert (tmp_path / "d").is_dir()
    assert metastore.client().get_database(database).locationUri == f"file:{tmp_path}/d"
    table = _table(metastore, database, "t", location=form.format(tmp_path / "e" / "t"))
    assert table.sd.location == f"file:{tmp_path}/e/t"
    assert (tmp_path / "e" / "t").is_dir()


def test_directories_follow_their_tables_wherever_they_lie(metastore: Metastore, tmp_path: Path) -> None:
    database = _database(metastore, f"file://{tmp_path}/far")
    client = metastore.client()
    table = _table(metastore, database, "t", ["k"])
    assert table.sd.location == f"file:{tmp_path}/far/t"
    client.add_partitions([_partition(metastore, database, "t", each) for each in ("1", "2")])
    (tmp_path / "far" / "t" / "k=1" / "part-0").write_text("rows")
    table.tableName = "renamed"
    client.alter_table(database, "t", table)
    assert _read(metastore, database, "renamed").sd.location == f"file:{tmp_path}/far/renamed"
    assert (tmp_path / "far" / "renamed" / "k=1" / "part-0").read_text() == "rows"
    assert client.get_partition(database, "renamed", ["1"]).sd.location == f"file:{tmp_path}/far/renamed/k=1"
    client.drop_partition(database, "renamed", ["2"], True)
    assert not (tmp_path / "far" / "renamed" / "k=2").exists()
    client.drop_table(database, "renamed", True)
    assert list((tmp_path / "far").iterdir()) == []
    client.drop_database(database, True, False)
    assert not (tmp_path / "far").exists()


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%23b"])
def test_no_character_of_a_name_cuts_a_location(metastore: Metastore, tmp_path: Path, name: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "precious").write_text("x")
    database = _database(metastore, f"file:{tmp_path}/{name}", f"char{ord(name[1])}")
    assert (tmp_path / name).is_dir()
    metastore.client().drop_database(database, True, False)
    assert not (tmp_path / name).exists()
    assert (tmp_path / "a" / "precious").exists()


def test_an_external_tables_directory_is_left_alone(metastore: Metastore, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "part-0").write_text("rows")
    external: dict[str, Any] = {
        "location": f"file:{tmp_path}/t",
        "kind": "EXTERNAL_TABLE",
        "parameters": {"EXTERNAL": "TRUE"},
    }
    table = _table(metastore, metastore.database, "t", **external)
    table.tableName = "renamed"
    metastore.client().alter_table(metastore.database, "t", table)
    assert _read(metastore, metastore.database, "renamed").sd.location == f"file:{tmp_path}/t"
    metastore.client().drop_table(metastore.database, "renamed", True)
    assert (tmp_path / "t" / "part-0").read_text() == "rows"


def test_what_is_not_the_tables_alone_stays(metastore: Metastore, tmp_path: Path) -> None:
    """Hive removes a directory with whatever else lies in it."""
    place = f"file:{tmp_path}/t"
    _table(metastore, metastore.database, "t", location=place)
    external: dict[str, Any] = {"kind": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}}
    _table(metastore, metastore.database, "inner", location=f"{place}/deep", **external)
    (tmp_path / "t" / "deep" / "part-0").write_text("rows")
    metastore.client().drop_table(metastore.database, "t", True)
    assert (tmp_path / "t" / "deep" / "part-0").exists() == metastore.ours


NOWHERE = "/proc/hmstats/d"
"""Where nobody makes a directory, not even root."""


def _refused(metastore: Metastore, place: str, call: Callable[[], Any]) -> str:
    """The sentence of the refusal, without the place that it names and, of ours, the reason."""
    with pytest.raises(api.MetaException) as refused:
        call()
    sentence: str = refused.value.message
    assert place in sentence or not metastore.ours
    return sentence.replace(place, "PLACE").split(": ")[0] if metastore.ours else sentence.replace(place, "PLACE")


@pytest.mark.parametrize("parent", ["not writable", "a file", "too long a name"])
def test_what_needs_a_directory_that_cannot_be_made_is_refused(
    metastore: Metastore, tmp_path: Path, parent: str
) -> None:
    (tmp_path / "file").write_text("x")
    places = {"not writable": NOWHERE, "a file": f"{tmp_path}/file/d", "too long a name": f"{tmp_path}/{'d' * 256}"}
    place = f"file:{places[parent]}"
    client, database = metastore.client(), metastore.database
    metastore.table("t", keys=["k"])
    there = Path(metastore.read_table("t").sd.location.removeprefix("file:"))
    partition = _partition(metastore, database, "t", "1")
    partition.sd.location = place
    more = [_partition(metastore, database, "t", "2"), partition, _partition(metastore, database, "t", "3")]
    sentences = [
        _refused(metastore, place, lambda: _table(metastore, database, "u", location=place)),
        _refused(metastore, place, lambda: client.add_partition(partition)),
        _refused(metastore, place, lambda: client.add_partitions(more)),
    ]
    if parent == "not writable":
        said = "PLACE is not a directory or unable to create one"
        assert [each.removeprefix("java.io.IOException: ") for each in sentences] == [said] * 3
    elif parent == "a file" and not metastore.ours:
        assert all("ParentNotDirectoryException" in each for each in sentences)
    assert (client.get_tables(database, "*"), client.get_partition_names(database, "t", -1)) == (["t"], [])
    if metastore.ours:  # a Hive may leave those of partitions that it has made meanwhile
        assert list(there.iterdir()) == []
    if metastore.flavour == "hive-4.0" and parent != "a file":
        _database(metastore, place)  # it has another directory for managed tables, and only logs that this one is not
        return
    said = _refused(metastore, place, lambda: _database(metastore, place))
    if parent == "not writable":
        assert said == f"Unable to create database path PLACE, failed to create database {database}_out"
    with pytest.raises(api.NoSuchObjectException):
        client.get_database(f"{database}_out")


def test_a_file_is_no_directory_of_a_managed_table(metastore: Metastore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    place = f"file:{tmp_path}/file"
    with pytest.raises(api.MetaException):
        _table(metastore, metastore.database, "t", location=place)
    external: dict[str, Any] = {"location": place, "kind": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}}
    if not metastore.ours:  # Spark, whose tables may be one file, names another place to it then
        with pytest.raises(api.MetaException):
            _table(metastore, metastore.database, "t", **external)
        return
    assert _table(metastore, metastore.database, "t", **external).parameters["numFiles"] == "1"
    assert (tmp_path / "file").read_text() == "x"


def test_what_is_there_needs_no_right_to_make_it(metastore: Metastore) -> None:
    external: dict[str, Any] = {"kind": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}}
    table = _table(metastore, metastore.database, "t", ["k"], location="file:/proc/sys/kernel", **external)
    assert table.sd.location == "file:/proc/sys/kernel"
    partition = _partition(metastore, metastore.database, "t", "1")
    partition.sd.location = "file:/proc/sys/kernel/random"
    metastore.client().add_partition(partition)

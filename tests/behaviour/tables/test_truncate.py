"""Truncating: counts, column statistics and files."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import OURS, Metastore

from hmstats.wire.idl import hive_metastore as api

_COUNTS = {"numFiles": "1", "numRows": "7", "totalSize": "70", "rawDataSize": "60"}
_ZEROS = dict.fromkeys(_COUNTS, "0")
_BASIC = '{"BASIC_STATS":"true"}'


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """A table with two partitions that have counts, statistics and a file each. Hive 2.3 cannot truncate."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no such call")
    metastore.table(keys=("k",))
    new = [metastore.partition(value) for value in "ab"]
    for each in new:
        each.parameters = dict(_COUNTS)
    metastore.client().add_partitions(new)
    for name in ("k=a", "k=b"):
        given = statistics(metastore, statistics_of("l"), partition=name)
        metastore.client().update_partition_column_statistics(given)
    for each in _partitions(metastore).values():
        (_folder(each.sd) / "part-0").write_text("rows")
    return metastore


def _partitions(metastore: Metastore) -> dict[str, Any]:
    return {each.values[0]: each for each in metastore.client().get_partitions(metastore.database, "t", -1)}


def _folder(storage: Any) -> Path:
    return Path(urlsplit(storage.location).path)


def _counts(parameters: dict[str, str]) -> dict[str, str]:
    return {name: parameters[name] for name in _COUNTS}


def _files(metastore: Metastore) -> dict[str, bool]:
    return {value: (_folder(each.sd) / "part-0").exists() for value, each in _partitions(metastore).items()}


def test_a_table_without_partitions(metastore: Metastore) -> None:
    """Hive keeps the column statistics, whose nulls are then more than there are rows."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no such call")
    metastore.table(parameters={**_COUNTS, "DO_NOT_UPDATE_STATS": "true", "spark.sql.statistics.numRows": "7"})
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l"), statistics_of("s")))
    folder = _folder(metastore.read_table().sd)
    (folder / "part-0").write_text("rows")
    client.truncate_table(metastore.database, "t", None)
    found = metastore.parameters()
    assert _counts(found) == _ZEROS
    assert (found["COLUMN_STATS_ACCURATE"], found["spark.sql.statistics.numRows"]) == (_BASIC, "7")
    assert set(of_table(metastore, "l", "s")) == (set() if metastore.ours else {"l", "s"})
    assert (folder.is_dir(), list(folder.iterdir())) == (True, [])


def test_every_partition(filled: Metastore) -> None:
    filled.client().truncate_table(filled.database, "t", None)
    found = _partitions(filled)
    assert [_counts(each.parameters) for each in found.values()] == [_ZEROS, _ZEROS]
    assert {each.parameters["COLUMN_STATS_ACCURATE"] for each in found.values()} == {_BASIC}
    assert _files(filled) == {"a": False, "b": False}
    if filled.ours:
        assert of_partitions(filled, ["k=a", "k=b"], "l") == {}


def test_some_partitions(filled: Metastore) -> None:
    filled.client().truncate_table(filled.database, "t", ["k=b"])
    found = _partitions(filled)
    assert (_counts(found["a"].parameters), _counts(found["b"].parameters)) == (_COUNTS, _ZEROS)
    assert _files(filled) == {"a": True, "b": False}
    assert "k=a" in of_partitions(filled, ["k=a", "k=b"], "l")


def test_no_partition(filled: Metastore) -> None:
    """Names that are not there are passed over."""
    filled.client().truncate_table(filled.database, "t", ["k=nope"])
    assert _files(filled) == {"a": True, "b": True}


def test_a_table_that_is_not_there(metastore: Metastore) -> None:
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no such call")
    with pytest.raises(Exception, match=r"nope|MetaException|NoSuchObject|missing result|Internal error"):
        metastore.client().truncate_table(metastore.database, "nope", None)


def test_a_request_may_leave_the_files(our_metastore: Metastore) -> None:
    our_metastore.table(parameters=dict(_COUNTS))
    folder = _folder(our_metastore.read_table().sd)
    (folder / "part-0").write_text("rows")
    context = api.EnvironmentContext(properties={"truncateSkipDataDeletion": "true"})
    request = api.TruncateTableRequest(dbName=our_metastore.database, tableName="t", environmentContext=context)
    our_metastore.client().truncate_table_req(request)
    assert _counts(our_metastore.parameters()) == _ZEROS
    assert (folder / "part-0").exists()


def test_an_external_table_that_says_so_loses_its_files(metastore: Metastore) -> None:
    """Hive makes such tables of those that it owned before Hive 4, and truncates them as these."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no such call")
    folder = _external(metastore, {"external.table.purge": "TRUE"})
    metastore.client().truncate_table(metastore.database, "t", None)
    assert (folder.is_dir(), list(folder.iterdir()), _counts(metastore.parameters())) == (True, [], _ZEROS)


def test_a_table_whose_files_stay_is_not_said_to_be_empty(metastore: Metastore) -> None:
    """Hive removes files of any external table, and leaves it to its own clients not to ask for it."""
    if metastore.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no such call")
    folder = _external(metastore, {})
    metastore.client().truncate_table(metastore.database, "t", None)
    found, names = metastore.parameters(), [each.name for each in folder.iterdir()]
    if not metastore.ours:
        assert (names, _counts(found)) == ([], _ZEROS)
        return
    assert names == ["part-0"]
    assert {*_COUNTS, "COLUMN_STATS_ACCURATE"}.isdisjoint(found)
    assert of_table(metastore, "l") == {}


def _external(metastore: Metastore, parameters: dict[str, str]) -> Path:
    """The directory of a new external table with a file and statistics."""
    stated = {**_COUNTS, "DO_NOT_UPDATE_STATS": "true", "EXTERNAL": "TRUE"}
    metastore.client().create_table(
        api.Table(
            tableName="t",
            dbName=metastore.database,
            owner="x",
            sd=metastore.storage(),
            partitionKeys=[],
            parameters={**stated, **parameters},
            tableType="EXTERNAL_TABLE",
        )
    )
    folder = _folder(metastore.read_table().sd)
    (folder / "part-0").write_text("rows")
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    return folder


@pytest.mark.parametrize("place", ["external", "outside"])
def test_files_of_external_tables_stay_and_those_outside_the_warehouse_go(
    our_metastore: Metastore, tmp_path: Path, place: str
) -> None:
    assert our_metastore.flavour in OURS
    storage = our_metastore.storage()
    storage.location = f"file:{tmp_path}/t" if place == "outside" else None
    parameters = {"EXTERNAL": "TRUE"} if place == "external" else {}
    table = api.Table(tableName="t", dbName=our_metastore.database, owner="x", sd=storage, parameters=parameters)
    our_metastore.client().create_table(table)
    folder = _folder(our_metastore.read_table().sd)
    (folder / "part-0").write_text("rows")
    our_metastore.client().truncate_table(our_metastore.database, "t", None)
    assert (folder / "part-0").exists() is (place == "external")
    our_metastore.client().drop_table(our_metastore.database, "t", True)
    assert folder.exists() is (place == "external")

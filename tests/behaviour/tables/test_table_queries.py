"""Tables found by filter, for rewriting, and what a table would be; databases as objects."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def listed(metastore: Metastore) -> Metastore:
    """Three tables: by two owners, used at two times, one of them Iceberg's."""
    given: dict[str, tuple[str, int, dict[str, str]]] = {
        "one": ("ada", 1000, {"table_type": "ICEBERG"}),
        "two": ("ada", 2000, {"table_type": "hive"}),
        "three": ("bob", 2000, {}),
    }
    for name, (owner, used, parameters) in given.items():
        table = api.Table(
            tableName=name,
            dbName=metastore.database,
            owner=owner,
            lastAccessTime=used,
            sd=metastore.storage({"a": "int"}),
            parameters=parameters,
        )
        metastore.client().create_table(table)
    return metastore


def _found(metastore: Metastore, text: str, limit: int = -1) -> list[str]:
    return sorted(metastore.client().get_table_names_by_filter(metastore.database, text, limit))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('hive_filter_field_owner__ = "ada"', ["one", "two"]),
        ('hive_filter_field_owner__ like "a.*"', ["one", "two"]),
        ('hive_filter_field_owner__ <> "ada"', ["three"]),
        ("hive_filter_field_last_access__ < 2000", ["one"]),
        ('hive_filter_field_owner__ = "ada" and hive_filter_field_last_access__ >= 2000', ["two"]),
        ('hive_filter_field_owner__ = "nobody" or hive_filter_field_last_access__ = 1000', ["one"]),
    ],
)
def test_tables_by_filter(listed: Metastore, text: str, names: list[str]) -> None:
    assert _found(listed, text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('hive_filter_field_params__table_type like "ICEBERG"', ["one"]),
        ('hive_filter_field_params__table_type = "hive"', ["two"]),
        ('hive_filter_field_params__table_type <> "hive"', ["one"]),
        ('hive_filter_field_params__nope = "x"', []),
    ],
)
def test_tables_by_parameter(our_metastore: Metastore, text: str, names: list[str]) -> None:
    """Derby, on which the Hives here run, cannot compare parameters."""
    for name, parameters in (("one", {"table_type": "ICEBERG"}), ("two", {"table_type": "hive"}), ("three", {})):
        our_metastore.table(name, parameters=parameters)
    assert _found(our_metastore, text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('hive_filter_field_tableName__ like "t.*"', ["three", "two"]),
        ('hive_filter_field_tableName__ > "three"', ["two"]),
        ('hive_filter_field_tableType__ = "MANAGED_TABLE"', ["one", "three", "two"]),
        ('hive_filter_field_tableType__ != "MANAGED_TABLE"', ["seen"]),
        ('hive_filter_field_tableType__ like "VIRTUAL.*" and hive_filter_field_tableName__ = "seen"', ["seen"]),
    ],
)
def test_tables_by_name_and_type(our_metastore: Metastore, text: str, names: list[str]) -> None:
    """Hive 4 answers the same; it makes external tables of managed ones."""
    for name in ("one", "two", "three"):
        our_metastore.table(name, columns={"a": "int"})
    view = api.Table(
        tableName="seen",
        dbName=our_metastore.database,
        sd=our_metastore.storage({"a": "int"}),
        tableType="VIRTUAL_VIEW",
        viewOriginalText="select 1",
        viewExpandedText="select 1",
    )
    our_metastore.client().create_table(view)
    assert _found(our_metastore, text) == names


def test_an_empty_filter_selects_every_table(listed: Metastore) -> None:
    assert _found(listed, "") == ["one", "three", "two"]
    assert len(_found(listed, "", 2)) == 2


@pytest.mark.parametrize("name", ["owner", "name", "type"])
def test_a_parameter_with_the_name_of_a_field(our_metastore: Metastore, name: str) -> None:
    """Watched on Hive 4.0.1; Derby, on which the Hives here run, cannot compare parameters."""
    our_metastore.table("one", parameters={name: "x"})
    our_metastore.table("two")
    assert _found(our_metastore, f'hive_filter_field_params__{name} = "x"') == ["one"]
    assert _found(our_metastore, f'hive_filter_field_params__{name} = "tester"') == []


def test_limits_and_unknown_databases(listed: Metastore) -> None:
    assert len(_found(listed, "hive_filter_field_last_access__ > 0", 2)) == 2
    everything = "hive_filter_field_last_access__ > 0"
    assert listed.client().get_table_names_by_filter("nope", everything, -1) == []


def test_filters_that_make_no_sense(listed: Metastore) -> None:
    client = listed.client()
    for text in ("nonsense", 'nope = "x"', 'hive_filter_field_last_access__ = "x'):
        with pytest.raises(api.MetaException):
            client.get_table_names_by_filter(listed.database, text, -1)
    with pytest.raises(api.InvalidOperationException):
        client.get_table_names_by_filter(listed.database, None, -1)
    with pytest.raises(api.UnknownDBException):
        client.get_table_names_by_filter("", 'hive_filter_field_owner__ = "x"', -1)


def _view(metastore: Metastore, name: str, *, rewrite: bool) -> Any:
    return api.Table(
        tableName=name,
        dbName=metastore.database,
        owner="ada",
        sd=metastore.storage({"a": "int"}),
        parameters={},
        tableType="MATERIALIZED_VIEW",
        viewOriginalText="select a from t",
        viewExpandedText="select a from t",
        rewriteEnabled=rewrite,
    )


def test_materialized_views_for_rewriting(our_metastore: Metastore) -> None:
    """Hive wants to be told what they were made of, which is not kept here."""
    client = our_metastore.client()
    client.create_table(_view(our_metastore, "used", rewrite=True))
    client.create_table(_view(our_metastore, "unused", rewrite=False))
    our_metastore.table("plain")
    assert client.get_materialized_views_for_rewriting(our_metastore.database) == ["used"]
    found = client.get_all_materialized_view_objects_for_rewriting()
    assert [each.tableName for each in found if each.dbName == our_metastore.database] == ["used"]
    assert client.get_materialized_views_for_rewriting("nope") == []


def test_extended_tables(our_metastore: Metastore) -> None:
    for name in ("orders", "orders_2020", "customer"):
        our_metastore.table(name)
    request = api.GetTablesExtRequest(
        catalog="hive", database=our_metastore.database, tableNamePattern="orders*", requestedFields=1
    )
    found = our_metastore.client().get_tables_ext(request)
    assert [(each.tblName, each.accessType) for each in found] == [("orders", 0), ("orders_2020", 0)]
    request.limit, request.requestedFields = 1, 0
    found = our_metastore.client().get_tables_ext(request)
    assert [(each.tblName, each.accessType) for each in found] == [("orders", None)]


def test_a_table_that_is_only_planned_is_not_made(our_metastore: Metastore) -> None:
    table = api.Table(
        tableName="t", dbName=our_metastore.database, owner="ada", sd=our_metastore.storage(), parameters={}
    )
    client = our_metastore.client()
    planned = client.translate_table_dryrun(api.CreateTableRequest(table=table))
    assert planned.sd.location == f"{client.get_database(our_metastore.database).locationUri}/t"
    assert planned.tableType == "MANAGED_TABLE"
    assert client.get_all_tables(our_metastore.database) == []


def test_databases_as_objects(our_metastore: Metastore) -> None:
    request = api.GetDatabaseObjectsRequest(pattern=f"{our_metastore.database}|nope*")
    found = our_metastore.client().get_databases_req(request).databases
    assert [each.name for each in found] == [our_metastore.database]


def test_a_dropped_database_leaves_an_external_tables_files(our_metastore: Metastore) -> None:
    client = our_metastore.client()
    our_metastore.table("own")
    our_metastore.table("external", parameters={"EXTERNAL": "TRUE"})
    files = {name: _folder(our_metastore.read_table(name).sd.location) / "part-0" for name in ("own", "external")}
    for file in files.values():
        file.write_text("rows")
    client.drop_database(our_metastore.database, True, True)
    assert {name: file.exists() for name, file in files.items()} == {"own": False, "external": True}


def _folder(location: str) -> Path:
    return Path(location.removeprefix("file:"))


def test_a_place_that_is_a_file_is_no_database(our_metastore: Metastore) -> None:
    root = our_metastore.client().get_database(our_metastore.database).locationUri
    (_folder(root) / "file").write_text("no directory")
    database = api.Database(name=f"{our_metastore.database}_file", locationUri=f"{root}/file", parameters={})
    with pytest.raises(api.MetaException, match="must be a directory, found a file"):
        our_metastore.client().create_database(database)
    with pytest.raises(api.NoSuchObjectException):
        our_metastore.client().get_database(database.name)

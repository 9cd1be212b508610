"""DataHub's connector for Hive over Thrift: whether there are catalogs, then each database, table and column in turn.

With a catalog it asks by `@catalog#` before a name, and by requests that name the catalog; without one as of Hive 2.
"""

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"id": "bigint", "name": "string"}


@pytest.fixture
def filled(metastore: Metastore) -> Metastore:
    """A table with a key and a view."""
    metastore.table("sales", COLUMNS, keys=("day",), parameters={"comment": "what was sold"})
    view = api.Table(
        tableName="presto",
        dbName=metastore.database,
        sd=metastore.storage(COLUMNS),
        parameters={"presto_view": "true"},
        viewOriginalText="/* Presto View: e30= */",
        viewExpandedText="/* Presto View */",
        tableType="VIRTUAL_VIEW",
    )
    metastore.client().create_table(view)
    return metastore


def test_without_a_catalog(filled: Metastore) -> None:
    client = filled.client()
    assert filled.database in client.get_all_databases()
    assert client.get_database(filled.database).name == filled.database
    assert sorted(client.get_all_tables(filled.database)) == ["presto", "sales"]
    assert [each.name for each in client.get_fields(filled.database, "sales")] == ["id", "name"]
    table = filled.read_table("sales")
    assert [each.name for each in table.partitionKeys] == ["day"]
    assert table.parameters["comment"] == "what was sold"
    view = filled.read_table("presto")
    assert (view.viewOriginalText, view.viewExpandedText) == ("/* Presto View: e30= */", "/* Presto View */")


def test_with_a_catalog(filled: Metastore) -> None:
    if filled.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no catalogs")
    client = filled.client()
    assert "hive" in client.get_catalogs().names
    assert filled.database in client.get_databases("@hive#")
    assert filled.database in client.get_databases("@hive#*")
    assert sorted(client.get_all_tables(f"@hive#{filled.database}")) == ["presto", "sales"]
    request = api.GetTableRequest(catName="hive", dbName=filled.database, tblName="sales")
    assert [each.name for each in client.get_table_req(request).table.sd.cols] == ["id", "name"]
    if filled.generation >= 4:
        found = client.get_database_req(api.GetDatabaseRequest(name=filled.database, catalogName="hive"))
        assert found.name == filled.database


def test_a_catalog_that_is_not_there(filled: Metastore) -> None:
    if filled.flavour == "hive-2.3":
        pytest.skip("Hive 2.3 has no catalogs")
    client = filled.client()
    assert client.get_databases("@nothing#") == []
    with pytest.raises(api.NoSuchObjectException):
        client.get_table_req(api.GetTableRequest(catName="nothing", dbName=filled.database, tblName="sales"))

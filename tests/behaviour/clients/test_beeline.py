"""What HiveServer2 asks a metastore for Beeline: SHOW, DESCRIBE, and the metadata calls of JDBC with their patterns.

HiveServer2 makes a metastore's pattern of one of JDBC: `%` becomes `*`, `_` becomes `.`, and no pattern is `*`.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from thriftpy2.thrift import TApplicationException

from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"id": "bigint", "name": "string"}
NAMES = ("orders", "orders_2024", "orders2", "sales", "store")
VIEW = "sold"
EVERYTHING = sorted((*NAMES, VIEW))


@pytest.fixture
def shop(metastore: Metastore) -> Metastore:
    """Five tables and a view."""
    for name in NAMES:
        keys = ("day", "region") if name == "sales" else ()
        metastore.table(name, COLUMNS, keys=keys, parameters={"comment": f"the {name}", "team": "one"})
    metastore.add_partitions(("1", "eu"), ("1", "us"), ("2", "a b"), table="sales", columns=COLUMNS)
    view = api.Table(
        tableName=VIEW,
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage(COLUMNS),
        partitionKeys=[],
        parameters={},
        viewOriginalText="SELECT * FROM sales",
        viewExpandedText="SELECT `sales`.`id` FROM `sales`",
        tableType="VIRTUAL_VIEW",
    )
    metastore.client().create_table(view)
    return metastore


PATTERNS = {
    "*": EVERYTHING,
    ".*": EVERYTHING,
    "orders": ["orders"],
    "orders*": ["orders", "orders2", "orders_2024"],
    "ORDERS*": ["orders", "orders2", "orders_2024"],
    "orders.": ["orders2"],
    "orders.2024": ["orders_2024"],
    "*o*r*": ["orders", "orders2", "orders_2024", "store"],
    "s*|orders2": ["orders2", "sales", "sold", "store"],
    "sales|sales": ["sales"],
    "nothing*": [],
    "": [],
    "(": [],
    "orders%": [],
}
"""To each pattern the tables of the names; HiveServer2 sends what Beeline's user wrote in SHOW TABLES LIKE."""


def test_show_tables_and_views(shop: Metastore) -> None:
    client, database = shop.client(), shop.database
    assert {pattern: sorted(client.get_tables(database, pattern)) for pattern in PATTERNS} == PATTERNS
    views = {pattern: client.get_tables_by_type(database, pattern, "VIRTUAL_VIEW") for pattern in PATTERNS}
    assert views == _only(VIEW)


def test_tables_of_jdbc(shop: Metastore) -> None:
    """DatabaseMetaData.getTables."""
    assert _metas(shop) == PATTERNS
    assert _metas(shop, "VIRTUAL_VIEW") == _only(VIEW)
    assert _metas(shop, "MANAGED_TABLE", "EXTERNAL_TABLE") == _only(*NAMES)


def test_what_jdbc_shows_of_a_table(shop: Metastore) -> None:
    (meta,) = shop.client().get_table_meta(shop.database, "orders", None)
    assert (meta.dbName, meta.tableName, meta.comments) == (shop.database, "orders", "the orders")
    assert meta.tableType == shop.expects("MANAGED_TABLE", {"hive-4.0": "EXTERNAL_TABLE"})


def test_schemas_of_jdbc(shop: Metastore) -> None:
    """DatabaseMetaData.getSchemas, SHOW DATABASES LIKE."""
    client, name = shop.client(), shop.database
    for pattern in (name, name.upper(), name[:-1] + ".", name + "|nothing"):
        assert name in client.get_databases(pattern), pattern
    assert set(client.get_databases("*")) >= {name, "default"}
    assert client.get_databases("nothing*") == []
    assert {each.dbName for each in client.get_table_meta(name[:-1] + ".", "sales", None)} >= {name}


def test_columns_of_jdbc(shop: Metastore) -> None:
    """DatabaseMetaData.getColumns: the tables of a pattern, whole, and the primary key of each."""
    client = shop.client()
    names = sorted(client.get_tables(shop.database, "s*"))
    request = api.GetTablesRequest(dbName=shop.database, tblNames=names)
    tables = client.get_table_objects_by_name_req(request).tables
    assert {
        each.tableName: [c.name for c in each.sd.cols] + [k.name for k in each.partitionKeys] for each in tables
    } == {
        "sales": ["id", "name", "day", "region"],
        "sold": ["id", "name"],
        "store": ["id", "name"],
    }
    for name in names:
        assert client.get_primary_keys(api.PrimaryKeysRequest(db_name=shop.database, tbl_name=name)).primaryKeys == []


def test_keys_of_jdbc(shop: Metastore) -> None:
    """DatabaseMetaData.getPrimaryKeys and getCrossReference."""
    client, database = shop.client(), shop.database
    key = api.SQLPrimaryKey(table_db=database, table_name="store", column_name="id", key_seq=1, pk_name="pk_store")
    client.add_primary_key(api.AddPrimaryKeyRequest(primaryKeyCols=[key]))
    reference = api.SQLForeignKey(
        pktable_db=database,
        pktable_name="store",
        pkcolumn_name="id",
        fktable_db=database,
        fktable_name="orders",
        fkcolumn_name="id",
        key_seq=1,
        fk_name="fk_orders",
        pk_name="pk_store",
    )
    client.add_foreign_key(api.AddForeignKeyRequest(foreignKeyCols=[reference]))
    (found,) = client.get_primary_keys(api.PrimaryKeysRequest(db_name=database, tbl_name="store")).primaryKeys
    assert (found.column_name, found.pk_name, found.key_seq) == ("id", "pk_store", 1)
    crossing = api.ForeignKeysRequest(
        parent_db_name=database, parent_tbl_name="store", foreign_db_name=database, foreign_tbl_name="orders"
    )
    (found,) = client.get_foreign_keys(crossing).foreignKeys
    assert (found.pktable_name, found.fktable_name, found.fk_name) == ("store", "orders", "fk_orders")
    if shop.flavour == "hive-2.3":  # wants the name of the other table too
        return
    of_parent = api.ForeignKeysRequest(parent_db_name=database, parent_tbl_name="store")
    assert [each.fk_name for each in client.get_foreign_keys(of_parent).foreignKeys] == ["fk_orders"]


def test_describe(shop: Metastore) -> None:
    client = shop.client()
    assert [each.name for each in client.get_fields(shop.database, "sales")] == ["id", "name"]
    assert [each.name for each in client.get_schema(shop.database, "sales")] == ["id", "name", "day", "region"]
    for call in (client.get_fields, client.get_schema):
        with pytest.raises((api.UnknownTableException, api.MetaException, api.NoSuchObjectException)):
            call(shop.database, "nothing")


def test_describe_formatted_asks_for_every_constraint(shop: Metastore) -> None:
    """Hive 2.3 has primary and foreign keys only."""
    if shop.flavour == "hive-2.3":
        with pytest.raises(TApplicationException):
            shop.client().get_unique_constraints(_constraints(shop, api.UniqueConstraintsRequest))
        return
    client = shop.client()
    assert client.get_unique_constraints(_constraints(shop, api.UniqueConstraintsRequest)).uniqueConstraints == []
    assert client.get_not_null_constraints(_constraints(shop, api.NotNullConstraintsRequest)).notNullConstraints == []
    assert client.get_default_constraints(_constraints(shop, api.DefaultConstraintsRequest)).defaultConstraints == []
    assert client.get_check_constraints(_constraints(shop, api.CheckConstraintsRequest)).checkConstraints == []


def _constraints(metastore: Metastore, request: Any) -> Any:
    return request(catName="hive", db_name=metastore.database, tbl_name="sales")


def test_describe_formatted_asks_for_all_constraints_at_once(shop: Metastore) -> None:
    if shop.generation < 4:
        pytest.skip("the call came with Hive 4")
    request = api.AllTableConstraintsRequest(dbName=shop.database, tblName="sales", catName="hive")
    found = shop.client().get_all_table_constraints(request).allTableConstraints
    assert found.primaryKeys in (None, [])
    assert found.checkConstraints in (None, [])


def test_show_table_extended(shop: Metastore) -> None:
    """The tables of a pattern, one by one, and one partition of one of them."""
    client = shop.client()
    for name in client.get_tables(shop.database, "orders*"):
        assert shop.read_table(name).parameters["comment"] == f"the {name}"
    partition = client.get_partition_with_auth(shop.database, "sales", ["2", "a b"], "hive", ["hive"])
    assert partition.values == ["2", "a b"]
    assert partition.sd.location.endswith("/day=2/region=a b")


def test_show_tblproperties(shop: Metastore) -> None:
    found = shop.parameters("orders")
    assert {key: found[key] for key in ("comment", "team")} == {"comment": "the orders", "team": "one"}


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([], ["day=1/region=eu", "day=1/region=us", "day=2/region=a b"]),
        (["1", ""], ["day=1/region=eu", "day=1/region=us"]),
        (["", "a b"], ["day=2/region=a b"]),
        (["3", ""], []),
    ],
)
def test_show_partitions(shop: Metastore, values: Sequence[str], names: list[str]) -> None:
    client = shop.client()
    if not values:
        assert client.get_partition_names(shop.database, "sales", -1) == names
        assert client.get_partition_names(shop.database, "sales", 2) == names[:2]
        return
    assert client.get_partition_names_ps(shop.database, "sales", list(values), -1) == names
    found = client.get_partitions_ps_with_auth(shop.database, "sales", list(values), -1, "hive", ["hive"])
    assert len(found) == len(names)


def test_describe_database(shop: Metastore) -> None:
    client = shop.client()
    database: Any = client.get_database(shop.database)
    assert (database.name, database.ownerName or "") == (shop.database, database.ownerName or "")
    assert database.locationUri.endswith(f"/{shop.database}.db")
    with pytest.raises(api.NoSuchObjectException):
        client.get_database("nothing")


def test_functions_are_loaded_when_a_session_starts(shop: Metastore) -> None:
    found = shop.client().get_all_functions().functions or []
    assert [each for each in found if each.dbName == shop.database] == []


def _metas(metastore: Metastore, *types: str) -> dict[str, list[str]]:
    """To each pattern the tables of these types that JDBC is told of."""
    client = metastore.client()
    found = {pattern: client.get_table_meta(metastore.database, pattern, list(types)) for pattern in PATTERNS}
    return {pattern: sorted(meta.tableName for meta in metas) for pattern, metas in found.items()}


def _only(*names: str) -> dict[str, list[str]]:
    return {pattern: [each for each in found if each in names] for pattern, found in PATTERNS.items()}

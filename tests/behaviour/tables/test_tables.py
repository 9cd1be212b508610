"""Tables: what a client that makes and reads one depends on."""

import shutil

import pytest
from tests.behaviour.structs import TYPES, of_table, statistics, statistics_of
from tests.fixtures.metastores import COLUMNS, HIVES, Metastore

from hmstats.wire.idl import hive_metastore as api


def test_a_table_comes_back_as_it_was_made(metastore: Metastore) -> None:
    metastore.table(keys=("k", "j"), parameters={"owner.team": "ops", "numRows": "7"})
    found = metastore.read_table()
    assert (found.dbName, found.tableName, found.owner) == (metastore.database, "t", "tester")
    assert [(each.name, each.type) for each in found.sd.cols] == list(COLUMNS.items())
    assert [(each.name, each.type) for each in found.partitionKeys] == [("k", "string"), ("j", "string")]
    assert found.parameters["owner.team"] == "ops"
    assert found.parameters["numRows"] == "7"
    assert found.sd.inputFormat.endswith("MapredParquetInputFormat")
    assert found.sd.outputFormat.endswith("MapredParquetOutputFormat")
    assert found.sd.serdeInfo.serializationLib.endswith("ParquetHiveSerDe")


def test_names_of_columns_and_keys_are_lower_case(metastore: Metastore) -> None:
    """Of a table that Spark made with a key Month, it names the partitions by month."""
    metastore.table(columns={"Id": "struct<Inner:int>"}, keys=("Month",))
    found = metastore.read_table()
    assert [(each.name, each.type) for each in found.sd.cols] == [("id", "struct<Inner:int>")]
    assert [each.name for each in found.partitionKeys] == ["month"]
    metastore.add_partitions(("1",), columns={"Id": "struct<Inner:int>"})
    assert metastore.client().get_partition_names(metastore.database, "t", -1) == ["month=1"]
    partition = metastore.client().get_partition_by_name(metastore.database, "t", "month=1")
    assert [each.name for each in partition.sd.cols] == ["id"]


def test_a_managed_table_stays_managed(metastore: Metastore) -> None:
    """Hive 4 makes it an external one, unless it is told not to."""
    metastore.table()
    expected = metastore.expects("MANAGED_TABLE", {"hive-4.0": "EXTERNAL_TABLE"})
    assert metastore.read_table().tableType == expected


def test_a_managed_table_lies_in_its_databases_folder(metastore: Metastore) -> None:
    metastore.table()
    database = metastore.client().get_database(metastore.database)
    assert metastore.read_table().sd.location == f"{database.locationUri}/t"


def test_comments_and_parameters_of_the_storage_come_back(metastore: Metastore) -> None:
    storage = metastore.storage({"a": "int"})
    storage.cols[0].comment = "first; grün"
    storage.serdeInfo.parameters = {"serialization.format": "1"}
    storage.parameters = {"own": "yes"}
    key = api.FieldSchema(name="k", type="int", comment="the key")
    table = api.Table(tableName="t", dbName=metastore.database, owner="tester", sd=storage, partitionKeys=[key])
    table.parameters = {"comment": "of the table"}
    metastore.client().create_table(table)
    found = metastore.read_table()
    assert found.sd.cols[0].comment == "first; grün"
    assert found.sd.serdeInfo.parameters["serialization.format"] == "1"
    assert found.sd.parameters == {"own": "yes"}
    assert found.partitionKeys[0].comment == "the key"
    assert found.parameters["comment"] == "of the table"


def test_a_wide_nested_column_type_comes_back(metastore: Metastore) -> None:
    """Types may be longer than 4000 characters."""
    nested = "struct<" + ",".join(f"field_number_{number}:array<map<string,int>>" for number in range(200)) + ">"
    metastore.table(columns={"a": nested})
    assert metastore.read_table().sd.cols[0].type == nested


def test_names_are_kept_in_lower_case(metastore: Metastore) -> None:
    metastore.table("MixedCase", columns={"A": "int"})
    assert metastore.client().get_all_tables(metastore.database.upper()) == ["mixedcase"]
    assert metastore.read_table("MIXEDCASE").tableName == "mixedcase"


def test_an_unknown_table_is_no_such_object(metastore: Metastore) -> None:
    """Anything else would make Trino fall back to get_table for ever."""
    with pytest.raises(api.NoSuchObjectException):
        metastore.read_table("nope")


def test_an_unknown_database(metastore: Metastore) -> None:
    client = metastore.client()
    with pytest.raises(api.NoSuchObjectException):
        client.get_database("nope")
    with pytest.raises(api.NoSuchObjectException):
        client.get_table_req(api.GetTableRequest(dbName="nope", tblName="t"))


def test_a_table_in_an_unknown_database_is_refused(metastore: Metastore) -> None:
    table = api.Table(tableName="t", dbName="nope", owner="tester", sd=metastore.storage(), parameters={})
    with pytest.raises(api.InvalidObjectException):
        metastore.client().create_table(table)


def test_a_name_that_is_taken_is_refused(metastore: Metastore) -> None:
    metastore.table()
    with pytest.raises(api.AlreadyExistsException, match=r"[Tt]able .*t already exists"):
        metastore.table()


@pytest.mark.parametrize("name", ["a*b", "a;b", ""])
def test_a_name_that_is_none_is_refused(metastore: Metastore, name: str) -> None:
    """Hive 4 takes any character."""
    if metastore.flavour == "hive-4.0" and name:
        metastore.table(name)
        assert metastore.client().get_all_tables(metastore.database) == [name]
        return
    with pytest.raises(api.InvalidObjectException):
        metastore.table(name)
    assert metastore.client().get_all_tables(metastore.database) == []


def test_a_column_that_is_there_twice_is_refused(metastore: Metastore) -> None:
    with pytest.raises(metastore.expects(api.InvalidObjectException, dict.fromkeys(HIVES, api.MetaException))):
        metastore.table(columns={"a": "int", "A": "string"})


def test_a_new_table_is_skewed_by_its_own_columns(metastore: Metastore) -> None:
    def create(name: str, *skewed: str) -> None:
        storage = metastore.storage({"a": "int", "b": "string"})
        storage.skewedInfo = api.SkewedInfo(list(skewed), [["1"] * len(skewed)], {})
        key = api.FieldSchema(name="k", type="string", comment="")
        metastore.client().create_table(
            api.Table(tableName=name, dbName=metastore.database, sd=storage, partitionKeys=[key], parameters={})
        )

    create("fine", "b", "a")
    assert metastore.read_table("fine").sd.skewedInfo.skewedColNames == ["b", "a"]
    with pytest.raises(api.InvalidObjectException, match=r"Invalid skew column \[nope, k\]"):
        create("wrong", "nope", "a", "k")
    assert metastore.client().get_all_tables(metastore.database) == ["fine"]


def test_tables_are_listed_by_pattern(metastore: Metastore) -> None:
    for name in ("orders", "orders_2020", "customer"):
        metastore.table(name)
    client = metastore.client()
    assert sorted(client.get_all_tables(metastore.database)) == ["customer", "orders", "orders_2020"]
    assert sorted(client.get_tables(metastore.database, "orders*")) == ["orders", "orders_2020"]
    assert sorted(client.get_tables(metastore.database, "customer|orders")) == ["customer", "orders"]
    assert client.get_tables(metastore.database, "nope*") == []


def test_databases_are_listed_by_pattern(metastore: Metastore) -> None:
    client = metastore.client()
    assert client.get_databases(metastore.database) == [metastore.database]
    assert {"default", metastore.database} <= set(client.get_all_databases())


def test_an_empty_pattern_lists_no_database(metastore: Metastore) -> None:
    assert metastore.client().get_databases("") == []


def test_those_tables_that_exist_are_read_by_name(metastore: Metastore) -> None:
    metastore.table("a")
    metastore.table("b")
    request = api.GetTablesRequest(dbName=metastore.database, tblNames=["b", "nope", "a"])
    found = metastore.client().get_table_objects_by_name_req(request).tables
    assert sorted(each.tableName for each in found) == ["a", "b"]


def test_named_tables_that_match_a_pattern(metastore: Metastore) -> None:
    if metastore.generation < 4:
        pytest.skip("tablesPattern came with Hive 4")
    for name in ("ta", "tb", "v"):
        metastore.table(name)

    def found(names: list[str], pattern: str) -> list[str]:
        request = api.GetTablesRequest(dbName=metastore.database, tblNames=names, tablesPattern=pattern)
        return sorted(each.tableName for each in metastore.client().get_table_objects_by_name_req(request).tables)

    assert found(["ta", "V", "nope"], "t*") == ["ta"]
    assert found(["ta", "v"], "*") == ["ta", "v"]
    assert found(["ta"], "v") == []
    assert found(["ta"], "") == []


def test_fields_and_schema(metastore: Metastore) -> None:
    metastore.table(columns={"a": "int"}, keys=("k",))
    client = metastore.client()
    fields = client.get_fields(metastore.database, "t")
    schema = client.get_schema(metastore.database, "t")
    assert [(each.name, each.type) for each in fields] == [("a", "int")]
    assert [(each.name, each.type) for each in schema] == [("a", "int"), ("k", "string")]


def test_an_alter_replaces_parameters(metastore: Metastore) -> None:
    metastore.table(parameters={"a": "1", "b": "2"})
    changed = metastore.read_table()
    changed.parameters = {"a": "9", "c": "3"}
    metastore.client().alter_table_with_environment_context(metastore.database, "t", changed, _AS_SPARK)
    found = metastore.parameters()
    assert {key: found.get(key) for key in ("a", "b", "c")} == {"a": "9", "b": None, "c": "3"}


def test_an_alter_keeps_the_statistics_of_columns_that_stay(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l"), statistics_of("s")))
    changed = metastore.read_table()
    changed.sd.cols = [*changed.sd.cols, api.FieldSchema(name="extra", type="int", comment="")]
    client.alter_table_with_environment_context(metastore.database, "t", changed, _AS_SPARK)
    assert set(of_table(metastore, "l", "s")) == {"l", "s"}


def test_a_column_of_another_type_loses_its_statistics(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, statistics_of("l"), statistics_of("s")))
    changed = metastore.read_table()
    for column in changed.sd.cols:
        column.type = "string" if column.name == "l" else column.type
    client.alter_table_with_environment_context(metastore.database, "t", changed, _AS_SPARK)
    assert set(of_table(metastore, "l", "s")) == {"s"}


def test_a_rename_carries_the_statistics(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.update_table_column_statistics(statistics(metastore, *map(statistics_of, TYPES)))
    changed = metastore.read_table()
    changed.tableName = "renamed"
    client.alter_table_with_environment_context(metastore.database, "t", changed, _AS_SPARK)
    assert client.get_all_tables(metastore.database) == ["renamed"]
    assert set(of_table(metastore, *TYPES, table="renamed")) == set(TYPES)


def test_an_alter_of_an_unknown_table_is_refused(metastore: Metastore) -> None:
    metastore.table()
    with pytest.raises(api.InvalidOperationException):
        metastore.client().alter_table_with_environment_context(
            metastore.database, "nope", metastore.read_table(), _AS_SPARK
        )


def test_a_dropped_table_is_gone(metastore: Metastore) -> None:
    metastore.table()
    client = metastore.client()
    client.drop_table(metastore.database, "t", True)
    assert client.get_all_tables(metastore.database) == []
    with pytest.raises(api.NoSuchObjectException):
        client.drop_table(metastore.database, "t", True)


def test_a_database_with_tables_is_dropped_only_when_that_is_said(metastore: Metastore) -> None:
    if metastore.flavour == "hive-2.3" and shutil.which("mvn") is None:
        pytest.skip("Hive 2.3 drops a database only with the connection pool that Maven brings")
    metastore.table()
    client = metastore.client()
    with pytest.raises(api.InvalidOperationException, match="is not empty"):
        client.drop_database(metastore.database, True, False)
    client.drop_database(metastore.database, True, True)
    assert metastore.database not in client.get_all_databases()


def test_a_view_has_its_texts(metastore: Metastore) -> None:
    view = api.Table(
        tableName="v",
        dbName=metastore.database,
        owner="tester",
        sd=metastore.storage({"a": "int"}),
        parameters={},
        tableType="VIRTUAL_VIEW",
        viewOriginalText="select a from t",
        viewExpandedText="select `a` from `t`",
    )
    metastore.client().create_table(view)
    found = metastore.read_table("v")
    assert (found.tableType, found.viewOriginalText) == ("VIRTUAL_VIEW", "select a from t")
    assert found.viewExpandedText == "select `a` from `t`"


def test_column_statistics_travel_with_the_table(metastore: Metastore) -> None:
    """Hive before 4 knows no such question."""
    metastore.table()
    metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    found = metastore.read_table(getColumnStats=True, engine="hive").colStats
    if metastore.generation < 4:
        assert found is None
        return
    assert [(each.colName, each.statsData.longStats.numDVs) for each in found.statsObj] == [("l", 5)]


_AS_SPARK = api.EnvironmentContext(properties={"DO_NOT_UPDATE_STATS": "true"})

"""Databases, connectors and materialized views: what comes in goes out."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.connectors import DataConnector
from hmstats.model.catalog.objects import Creation, Database, DatabaseName, SourceTable, Storage, Table, TableName
from hmstats.wire.catalog.connectors import connector_from_thrift, connector_to_thrift
from hmstats.wire.catalog.objects import (
    creation_from_thrift,
    database_from_thrift,
    database_to_thrift,
    table_from_thrift,
    table_to_thrift,
)
from hmstats.wire.idl import hive_metastore as api

TEXTS = st.text(max_size=5)
CONNECTORS = st.builds(
    DataConnector,
    name=st.from_regex(r"[a-z_0-9]+", fullmatch=True),
    type=TEXTS,
    url=TEXTS,
    description=st.none() | TEXTS,
    parameters=st.dictionaries(TEXTS, TEXTS, max_size=3),
    owner=st.none() | TEXTS,
    owner_type=st.sampled_from([None, "USER", "GROUP", "ROLE"]),
    created_seconds=st.none() | st.integers(0, 2**31 - 1),
)
DATABASE = Database(name=DatabaseName("hive", "d"), location="file:/d")
VIEW = Table(name=TableName("hive", "d", "v"), storage=Storage(), table_type="MATERIALIZED_VIEW")


@given(CONNECTORS)
def test_a_connector_comes_back(connector: DataConnector) -> None:
    assert connector_from_thrift(connector_to_thrift(connector)) == connector


def test_a_connectors_name_is_lower_case() -> None:
    found = connector_from_thrift(api.DataConnector(name=" Shop ", type="t", url="u"))
    assert found == DataConnector(name="shop", type="t", url="u")


@pytest.mark.parametrize("struct", [None, api.DataConnector(name="", type="t", url="u")])
def test_a_connector_must_be_whole(struct: Any) -> None:
    with pytest.raises(InvalidObject, match="must have a name, a type and a URL"):
        connector_from_thrift(struct)


def test_a_remote_database_comes_back_and_another_tells_no_connector() -> None:
    remote = replace(DATABASE, remote=True, connector="c", remote_name="shop")
    assert database_from_thrift(database_to_thrift(remote)) == remote
    struct = database_to_thrift(replace(remote, remote=False))
    assert (struct.type, struct.connector_name, struct.remote_dbname) == (api.DatabaseType.NATIVE, None, None)


def test_what_a_view_was_made_of_comes_back_without_the_tables() -> None:
    source = replace(VIEW, name=TableName("hive", "e", "a"), table_type="MANAGED_TABLE")
    creation = Creation(sources=(SourceTable(source.name, 1, 2, 3, table=source),), transactions="x", materialized_ms=5)
    struct = table_to_thrift(replace(VIEW, creation=creation))
    told = struct.creationMetadata
    assert (told.catName, told.dbName, told.tblName, told.tablesUsed) == ("hive", "d", "v", {"e.a"})
    assert (told.materializationTime, told.sourceTables[0].table.tableName) == (5, "a")
    expected = Creation(sources=(SourceTable(source.name, 1, 2, 3),), transactions="x")
    assert table_from_thrift(struct).creation == expected


def test_tables_used_are_sources_where_there_are_no_others() -> None:
    struct = api.CreationMetadata(catName=None, dbName="d", tblName="v", tablesUsed={"E.B", "e.a"})
    names = [TableName("spark", "e", "b"), TableName("spark", "e", "a")]
    assert creation_from_thrift(struct, "spark").sources == tuple(map(SourceTable, names))
    assert creation_from_thrift(api.CreationMetadata(catName="hive")).sources == ()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tablesUsed": {"a"}}, "must be named database.table, found a"),
        ({"tablesUsed": {".a"}}, "must be named database.table, found .a"),
        ({"sourceTables": [api.SourceTable()]}, "must have a name and a database"),
        ({"sourceTables": [api.SourceTable(table=api.Table(tableName="t"))]}, "must have a name and a database"),
    ],
)
def test_a_source_must_have_a_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(MetaError, match=message):
        creation_from_thrift(api.CreationMetadata(catName="hive", dbName="d", tblName="v", **values))

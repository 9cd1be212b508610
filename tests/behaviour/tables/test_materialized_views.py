"""What materialized views were made of: stored with them, told with them, and kept while they are there."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def views(metastore: Metastore) -> Iterator[Metastore]:
    """A metastore that knows materialized views, with the tables a and b."""
    if metastore.generation < 4:
        pytest.skip("source tables with counts came with Hive 4")
    for name in "ab":
        metastore.table(name)
    yield metastore
    metastore.client().drop_database(metastore.database, True, True)


def creation(metastore: Metastore, *sources: str, view: str = "v", **values: Any) -> Any:
    """What a view is made of: tables of the test's database, with counts of changed rows 1, 2 and 3."""
    tables = [
        api.SourceTable(table=metastore.read_table(each), insertedCount=1, updatedCount=2, deletedCount=3)
        for each in sources
    ]
    return api.CreationMetadata(
        catName="hive",
        dbName=metastore.database,
        tblName=view,
        tablesUsed={f"{metastore.database}.{each}" for each in sources},
        sourceTables=tables,
        **values,
    )


def make(metastore: Metastore, made_of: Any, *, name: str = "v", database: str | None = None) -> None:
    view = api.Table(
        tableName=name,
        dbName=database or metastore.database,
        owner="ann",
        sd=metastore.storage(),
        partitionKeys=[],
        parameters={},
        tableType="MATERIALIZED_VIEW",
        viewOriginalText="select 1",
        viewExpandedText="select 1",
        rewriteEnabled=True,
        creationMetadata=made_of,
        catName="hive",
    )
    metastore.client().create_table_req(api.CreateTableRequest(table=view))


def sources_of(found: Any) -> list[tuple[str, int, int, int]]:
    return sorted(
        (each.table.tableName, each.insertedCount, each.updatedCount, each.deletedCount) for each in found.sourceTables
    )


def test_a_view_says_what_it_was_made_of(views: Metastore) -> None:
    make(views, creation(views, "a", "b", validTxnList="5:9:1"))
    found = views.read_table("v").creationMetadata
    assert (found.catName, found.dbName, found.tblName) == ("hive", views.database, "v")
    assert set(found.tablesUsed) == {f"{views.database}.a", f"{views.database}.b"}
    assert found.validTxnList == "5:9:1"
    assert found.materializationTime > 1_600_000_000_000
    assert sources_of(found) == [("a", 1, 2, 3), ("b", 1, 2, 3)]
    source = next(each.table for each in found.sourceTables if each.table.tableName == "a")
    assert [each.name for each in source.sd.cols] == [each.name for each in views.read_table("a").sd.cols]


def test_other_tables_say_nothing(views: Metastore) -> None:
    assert views.read_table("a").creationMetadata is None


def test_names_are_enough(views: Metastore) -> None:
    made_of = creation(views, "a", "b")
    made_of.sourceTables = None
    make(views, made_of)
    assert sources_of(views.read_table("v").creationMetadata) == [("a", 0, 0, 0), ("b", 0, 0, 0)]


def test_a_list_of_tables_tells_it_too(views: Metastore) -> None:
    make(views, creation(views, "a"))
    request = api.GetTablesRequest(dbName=views.database, tblNames=["a", "v"])
    found = {each.tableName: each for each in views.client().get_table_objects_by_name_req(request).tables}
    assert found["a"].creationMetadata is None
    assert sources_of(found["v"].creationMetadata) == [("a", 1, 2, 3)]


def test_a_view_made_anew_is_of_other_tables(views: Metastore) -> None:
    make(views, creation(views, "a", validTxnList="old"))
    made_of = creation(views, "b", validTxnList="new")
    views.client().update_creation_metadata("hive", views.database, "v", made_of)
    found = views.read_table("v").creationMetadata
    assert sources_of(found) == [("b", 1, 2, 3)]
    assert found.validTxnList == "new"
    views.client().drop_table(views.database, "a", True)


def test_a_table_in_use_is_not_dropped(views: Metastore) -> None:
    make(views, creation(views, "a"))
    with pytest.raises(api.MetaException, match=r"used in the following materialized views \[.*\.v\]"):
        views.client().drop_table(views.database, "a", True)
    assert views.read_table("a").tableName == "a"
    views.client().drop_table(views.database, "v", True)
    views.client().drop_table(views.database, "a", True)
    with pytest.raises(api.NoSuchObjectException):
        views.read_table("a")


def test_a_dropped_view_leaves_nothing_behind(views: Metastore) -> None:
    make(views, creation(views, "a"))
    views.client().drop_table(views.database, "v", True)
    make(views, creation(views, "b"))
    assert sources_of(views.read_table("v").creationMetadata) == [("b", 1, 2, 3)]


def test_a_database_goes_with_its_own_views(views: Metastore) -> None:
    make(views, creation(views, "a", "b"))
    views.client().drop_database(views.database, True, True)
    assert views.database not in views.client().get_all_databases()
    views.client().create_database(api.Database(name=views.database, description="", parameters={}))


def test_a_database_in_use_elsewhere_is_not_dropped(views: Metastore) -> None:
    client, other = views.client(), f"{views.database}_other"
    client.create_database(api.Database(name=other, description="", parameters={}))
    made_of = creation(views, "a")
    made_of.dbName = other
    make(views, made_of, database=other)
    with pytest.raises(api.MetaException, match=rf"materialized views \[{other}\.v\]"):
        client.drop_database(views.database, True, True)
    assert sorted(client.get_all_tables(views.database)) == ["a", "b"]
    client.drop_database(other, True, True)


def test_what_may_be_rewritten_to_says_what_it_was_made_of(views: Metastore) -> None:
    make(views, creation(views, "a"))
    found = [
        each
        for each in views.client().get_all_materialized_view_objects_for_rewriting()
        if each.dbName == views.database
    ]
    assert [sources_of(each.creationMetadata) for each in found] == [[("a", 1, 2, 3)]]


@pytest.fixture
def our_views(our_metastore: Metastore) -> Metastore:
    """Ours, with the tables a and b."""
    for name in "ab":
        our_metastore.table(name)
    return our_metastore


def test_a_renamed_view_keeps_what_it_says(our_views: Metastore) -> None:
    make(our_views, creation(our_views, "a"))
    changed = our_views.read_table("v")
    changed.tableName = "w"
    our_views.client().alter_table(our_views.database, "v", changed)
    found = our_views.read_table("w").creationMetadata
    assert found.tblName == "w"
    assert sources_of(found) == [("a", 1, 2, 3)]


def test_a_kept_answer_follows_its_sources(our_views: Metastore) -> None:
    make(our_views, creation(our_views, "a"))
    client = our_views.client()
    for _ in range(2):
        client.get_table(our_views.database, "v")
    changed = our_views.read_table("a")
    changed.parameters["noticed"] = "yes"
    client.alter_table(our_views.database, "a", changed)
    source = client.get_table(our_views.database, "v").creationMetadata.sourceTables[0].table
    assert source.parameters["noticed"] == "yes"


def test_views_made_of_each_other_are_told_all_the_same(our_views: Metastore) -> None:
    make(our_views, creation(our_views, "a"))
    make(our_views, creation(our_views, "v", view="w"), name="w")
    our_views.client().update_creation_metadata("hive", our_views.database, "v", creation(our_views, "w"))
    assert sources_of(our_views.read_table("v").creationMetadata) == [("w", 1, 2, 3)]
    assert our_views.read_table("w").creationMetadata.sourceTables[0].table.creationMetadata is None
    our_views.client().drop_database(our_views.database, True, True)


def test_a_missing_source_is_refused(our_views: Metastore) -> None:
    made_of = creation(our_views, "a")
    made_of.sourceTables[0].table.tableName = "none"
    with pytest.raises(api.InvalidObjectException, match=r"source table .*none does not exist"):
        make(our_views, made_of)
    with pytest.raises(api.NoSuchObjectException):
        our_views.read_table("v")
    made_of.sourceTables, made_of.tablesUsed = None, {"nameless"}
    with pytest.raises(api.MetaException, match=r"must be named database\.table, found nameless"):
        make(our_views, made_of)


@pytest.mark.parametrize("name", ["a", "none"])
def test_what_is_no_materialized_view_was_made_of_nothing(our_views: Metastore, name: str) -> None:
    with pytest.raises(api.InvalidOperationException, match=f"there is no materialized view .*{name}"):
        our_views.client().update_creation_metadata("hive", our_views.database, name, creation(our_views, "b"))
    with pytest.raises(api.MetaException, match="must have the argument creation_metadata, found none"):
        our_views.client().update_creation_metadata("hive", our_views.database, name, None)


def test_no_source_was_updated(our_views: Metastore) -> None:
    made_of = creation(our_views, "a", validTxnList="")
    found = our_views.client().get_materialization_invalidation_info(made_of, "")
    assert (found.sourceTablesUpdateDeleteModified, found.sourceTablesCompacted) == (False, False)

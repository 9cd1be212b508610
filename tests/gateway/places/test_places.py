"""Two metastores and own tables behind one address: each database belongs to one place."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.gateway.doors import bounds, long, until
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.gateway.places.several import Several, several

from hmstats.client import connect
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api


def read_only(side: UpstreamSide) -> None:
    """An upstream that reads what comes and answers nothing."""
    while side.socket.recv(65536):
        pass


def made_in(places: Several, database: str) -> list[str]:
    """The upstreams that have a database."""
    upstreams = {"first": places.first, "second": places.second}
    return [name for name, each in upstreams.items() if database in each.client().get_all_databases()]


def test_a_new_database_is_made_where_it_belongs(places: Several) -> None:
    for name in ("a_made", "b_made", "own_made"):
        places.make(name)
        assert places.front.client().get_database(name).name == name
    assert [made_in(places, name) for name in ("a_made", "b_made", "own_made")] == [["first"], ["second"], []]


def test_tables_partitions_and_statistics_are_where_their_database_is(places: Several) -> None:
    for name, there in (("a_t", places.first), ("b_t", places.second), ("own_t", None)):
        places.table(places.make(name), "t", keys=["day"])
        client = places.front.client()
        partition = api.Partition(["1"], name, "t", sd=places.front.storage({"a": "bigint"}), parameters={})
        assert client.add_partitions([partition]) == 1
        assert client.get_partition_names(name, "t", -1) == ["day=1"]
        ours = connect(f"thrift://127.0.0.1:{places.front.port}", retries=0)
        with ours:
            ours.put_partition_statistics(f"{name}.t", [StatisticsSet((long(3, 7, values=("3",)),), "day=1")])
            assert [bounds(each.columns) for each in ours.statistics(f"{name}.t", None, ["day=1"])] == [[(3, 7)]]
            assert ours.top_k(f"{name}.t", "a", partitions=["day=1"]).values
        if there is not None:
            request = api.PartitionsStatsRequest(dbName=name, tblName="t", colNames=["a"], partNames=["day=1"])
            until(["day=1"], lambda: list(there.client().get_partitions_statistics_req(request).partStats))  # noqa: B023
        client.drop_table(name, "t", True)
        assert client.get_all_tables(name) == []


def test_names_with_a_catalog_go_to_the_databases_place(places: Several) -> None:
    places.make("b_cat")
    places.table("b_cat", "t")
    client = places.front.client()
    assert client.get_database("@hive#b_cat").name == "b_cat"
    assert client.get_table("@hive#B_CAT", "t").tableName == "t"
    assert (
        client.get_table_req(api.GetTableRequest(dbName="b_cat", tblName="t", catName="hive")).table.dbName == "b_cat"
    )
    places.second.client().create_catalog(
        api.CreateCatalogRequest(catalog=api.Catalog(name="elsewhere", locationUri=f"file://{places.folder}/elsewhere"))
    )
    made = api.Database(name="c_x", description="", parameters={}, catalogName="elsewhere")
    client.create_database(made)
    assert places.second.client().get_database("@elsewhere#c_x").catalogName == "elsewhere"
    assert client.get_databases("@elsewhere#c*") == ["c_x"]
    assert set(client.get_catalogs().names) == {"hive", "elsewhere"}
    assert [client.get_catalog(api.GetCatalogRequest(name=each)).catalog.name for each in ("hive", "elsewhere")] == [
        "hive",
        "elsewhere",
    ]
    with pytest.raises(api.NoSuchObjectException, match="nowhere"):
        client.get_catalog(api.GetCatalogRequest(name="nowhere"))


def test_lists_have_the_databases_of_all_places_once(places: Several) -> None:
    for name in ("a_list", "b_list", "own_list"):
        places.table(places.make(name), "t")
    places.make("b_hidden", places.first)  # not the place of this name
    places.make("a_hidden", places.second)
    places.table("a_hidden", "t", places.second)
    client = places.front.client()
    found = client.get_all_databases()
    assert {"a_list", "b_list", "own_list", "default"} <= set(found)
    assert len(found) == len(set(found))
    assert not {"b_hidden", "a_hidden"} & set(found)
    assert client.get_databases("*_list") == ["a_list", "b_list", "own_list"]
    listed = client.get_databases_req(api.GetDatabaseObjectsRequest(pattern="*_list")).databases
    assert sorted(each.name for each in listed) == ["a_list", "b_list", "own_list"]
    metas = client.get_table_meta("*_list", "*", [])
    assert sorted((each.dbName, each.tableName) for each in metas) == [
        ("a_list", "t"),
        ("b_list", "t"),
        ("own_list", "t"),
    ]


def test_functions_of_all_places_are_listed(places: Several) -> None:
    client = places.front.client()
    for name in ("a_fn", "b_fn", "own_fn"):
        places.make(name)
        function = api.Function(
            functionName="f", dbName=name, className="x.Y", ownerName="me", ownerType=1, functionType=1, resourceUris=[]
        )
        client.create_function(function)
        assert client.get_function(name, "f").className == "x.Y"
    assert {each.dbName for each in client.get_all_functions().functions} >= {"a_fn", "b_fn", "own_fn"}


@pytest.mark.parametrize(("old", "new"), [("a_span", "b_span"), ("b_span", "own_span"), ("own_span", "a_span")])
def test_a_rename_from_one_place_to_another_is_refused(places: Several, old: str, new: str) -> None:
    client = places.front.client()
    for name in (old, new):
        if name not in client.get_all_databases():
            places.make(name)
    places.table(old, "t")
    moved = client.get_table(old, "t")
    moved.dbName = new
    with pytest.raises(api.MetaException, match="must be in one metastore"):
        client.alter_table(old, "t", moved)
    assert client.get_all_tables(old) == ["t"]
    client.drop_table(old, "t", True)


def test_an_exchange_and_a_rename_of_a_database_across_places_are_refused(places: Several) -> None:
    client = places.front.client()
    for name in ("a_ex", "own_ex"):
        places.table(places.make(name), "t", keys=["day"])
    with pytest.raises(api.MetaException, match="a_ex in upstream first, own_ex in hmstats itself"):
        client.exchange_partition({"day": "1"}, "a_ex", "t", "own_ex", "t")
    renamed = client.get_database("a_ex")
    renamed.name = "b_ex"
    with pytest.raises(api.MetaException, match="a_ex in upstream first, b_ex in upstream second"):
        client.alter_database("a_ex", renamed)


def test_a_foreign_key_to_a_table_elsewhere_is_refused(places: Several) -> None:
    for name in ("a_key", "b_key"):
        places.table(places.make(name), "t")
    key = api.SQLForeignKey(
        pktable_db="a_key", pktable_name="t", pkcolumn_name="a", fktable_db="b_key", fktable_name="t", fkcolumn_name="a"
    )
    with pytest.raises(api.MetaException, match="must be in one metastore"):
        places.front.client().add_foreign_key(api.AddForeignKeyRequest(foreignKeyCols=[key]))


def test_calls_without_a_database_go_to_the_default_upstream(places: Several) -> None:
    front, first = places.front.client(), places.first.client()
    assert front.get_metastore_db_uuid() == first.get_metastore_db_uuid()
    assert front.get_current_notificationEventId().eventId == first.get_current_notificationEventId().eventId
    opened = front.open_txns(api.OpenTxnRequest(num_txns=1, user="u", hostname="h"))
    assert opened.txn_ids[0] in {each.id for each in first.get_open_txns_info().open_txns}
    component = api.LockComponent(type=1, level=2, dbname="b_key", tablename="t")
    locked = front.lock(api.LockRequest(component=[component], user="u", hostname="h"))
    assert first.check_lock(api.CheckLockRequest(lockid=locked.lockid)).state == locked.state
    front.unlock(api.UnlockRequest(lockid=locked.lockid))
    front.abort_txn(api.AbortTxnRequest(txnid=opened.txn_ids[0]))


def test_own_tables_have_what_a_gateway_does_not_keep(places: Several) -> None:
    places.table(places.make("own_prefs"), "t")
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours:
        ours.preferences.change(Subject(DatabaseName("hive", "own_prefs"), "t"), {"publish": "false"})
        assert [(each.subject.table, each.text) for each in ours.preferences.listed("own_prefs")] == [("t", "false")]


class TestAnUpstreamThatIsAway:
    """The other places go on, and lists say who is missing."""

    def test_lists_name_it_and_other_databases_are_answered(
        self, hmstats_sqlite: int, other_sqlite: int, tmp_path: Path
    ) -> None:
        first, second = (Metastore("hmstats-sqlite", port, 4.0) for port in (hmstats_sqlite, other_sqlite))
        away = {"second": "thrift://127.0.0.1:1"}
        with several(tmp_path, first, second, uris=away, workers=1) as places:
            places.table(places.make("a_away"), "t")
            client = places.front.client()
            lists: dict[str, tuple[Any, ...]] = {
                "get_all_databases": (),
                "get_databases": ("*",),
                "get_table_meta": ("*", "*", []),
                "get_all_functions": (),
            }
            for name, arguments in lists.items():
                with pytest.raises(api.MetaException, match=r"upstream second does not answer: .*thrift://127.0.0.1:1"):
                    getattr(client, name)(*arguments)
            with pytest.raises(api.MetaException, match=r"upstream second does not answer: .*thrift://127.0.0.1:1"):
                client.get_catalog(api.GetCatalogRequest(name="elsewhere"))
            assert client.get_catalog(api.GetCatalogRequest(name="hive")).catalog.name == "hive"
            assert client.get_table("a_away", "t").tableName == "t"
            assert places.make("own_away")
            with pytest.raises(api.MetaException, match=r"thrift://127.0.0.1:1"):
                client.get_all_tables("b_away")


class TestAnUpstreamThatHangs:
    """It takes connections and answers nothing: nobody waits for it."""

    @pytest.mark.slow
    def test_lists_name_it_soon_and_other_databases_are_answered(self, hmstats_sqlite: int, tmp_path: Path) -> None:
        first = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0)
        with Upstream(read_only) as hanging:
            uri = {"second": f"thrift://127.0.0.1:{hanging.address[1]}"}
            with several(tmp_path, first, first, uris=uri, workers=1, upstream_hanging_seconds=1.0) as places:
                client = places.front.client()
                for _ in range(
                    3
                ):  # the first may come before the upstream is known to hang: it waits for that, not 660 s
                    with pytest.raises(api.MetaException, match=r"upstream second does not answer"):
                        client.get_all_databases()
                with pytest.raises(api.MetaException, match=r"127.0.0.1:\d+: no answer in 1 seconds"):
                    client.get_all_tables("b_hanging")
                places.table(places.make("a_hanging"), "t")
                assert client.get_table("a_hanging", "t").tableName == "t"


def test_what_is_stated_and_what_waits_is_listed_of_all_places(places: Several) -> None:
    names = ("a_care", "b_care", "own_care")
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours:
        for name in names:
            places.table(places.make(name), "t")
            ours.preferences.change(Subject(DatabaseName("hive", name)), {"publish": "false"})
            ours.put_table_statistics(f"{name}.t", StatisticsSet((long(3, 7),)))
            assert ours.table_statistics(f"{name}.t", ["a"]) == ()
        assert {each.subject.database: each.text for each in ours.preferences.listed("*_care")} == {
            DatabaseName("hive", name): "false" for name in names
        }
        assert {each.table.database for each in ours.pending.listed("*_care")} == set(names)
        for name in names:
            ours.pending.publish(f"{name}.t")
            assert bounds(ours.table_statistics(f"{name}.t", ["a"])) == [(3, 7)]
        assert ours.pending.listed("*_care") == []

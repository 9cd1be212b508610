"""What a materialized view tells of its source tables, asked over sockets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.access.guarded import Guarded, done, guarded, raised, table

from hmstats.model.access.actions import Action
from hmstats.model.access.rules import ObjectName
from hmstats.server.access.filters import one_table
from hmstats.wire.idl import hive_metastore as api

OPEN = 'objects = ["hive.open"]\nallow = ["list", "read", "read_statistics", "create", "alter"]\n'
SHOWN = "spark.sql.statistics.colStats.l.max"


@pytest.fixture
def server(sqlite_url: str, tmp_path: Path) -> Iterator[Guarded]:
    with guarded(sqlite_url, tmp_path) as running:
        yield running


def _creation(name: str, *sources: str) -> Any:
    return api.CreationMetadata(catName="hive", dbName="open", tblName=name, tablesUsed=set(sources))


def _view(name: str, *sources: str) -> Any:
    made = table("open", name)
    made.tableType, made.rewriteEnabled, made.creationMetadata = "MATERIALIZED_VIEW", True, _creation(name, *sources)
    return made


def _sources(struct: Any) -> list[str]:
    return [f"{each.table.dbName}.{each.table.tableName}" for each in struct.creationMetadata.sourceTables]


def test_a_view_is_made_of_tables_that_its_maker_sees(server: Guarded) -> None:
    server.rule(f'[[rule]]\nusers = ["ada"]\n{OPEN}')
    ada = server.client("ada")
    for name in ("t", "u"):
        refused = raised(ada.ask("create_table", tbl=_view("v", f"shut.{name}")))
        assert refused.message == f"hive.shut.{name} table not found"
    done(ada.ask("create_table", tbl=_view("v", "open.t")))
    changed: Any = {"catName": "hive", "dbname": "open", "tbl_name": "v"}
    refused = raised(ada.ask("update_creation_metadata", **changed, creation_metadata=_creation("v", "shut.t")))
    assert refused.message == "hive.shut.t table not found"
    done(ada.ask("update_creation_metadata", **changed, creation_metadata=_creation("v", "open.p")))
    assert _sources(done(ada.ask("get_table", dbname="open", tbl_name="v"))) == ["open.p"]


def _told(client: Any) -> dict[str, list[str]]:
    """The source tables in each answer that has the view."""
    request = api.GetTableRequest(dbName="open", tblName="v")
    names = api.GetTablesRequest(dbName="open", tblNames=["v"])
    every = done(client.ask("get_all_materialized_view_objects_for_rewriting"))
    return {
        "one": _sources(done(client.ask("get_table", dbname="open", tbl_name="v"))),
        "by request": _sources(done(client.ask("get_table_req", req=request)).table),
        "many": _sources(done(client.ask("get_table_objects_by_name", dbname="open", tbl_names=["v"]))[0]),
        "many by request": _sources(done(client.ask("get_table_objects_by_name_req", req=names)).tables[0]),
        "for rewriting": _sources(every[0]),
    }


def test_the_source_tables_are_told_to_those_who_may_read_them(server: Guarded) -> None:
    server.rule(f'[[rule]]\nusers = ["ada"]\n{OPEN}')
    root, ada = server.client("root"), server.client("ada")
    done(root.ask("create_table", tbl=_view("v", "open.t", "shut.t")))
    for _ in range(3):  # whoever has had the answer before, and has left it in the cache
        assert set(map(tuple, _told(root).values())) == {("open.t", "shut.t")}
        assert set(map(tuple, _told(ada).values())) == {("open.t",)}


def test_statistics_of_source_tables_are_told_to_those_who_may_read_them() -> None:
    source, view = table("shut", "s"), table("open", "v")
    source.parameters[SHOWN] = "9"  # as a Hive stores it beside which a server runs
    view.creationMetadata = api.CreationMetadata(sourceTables=[api.SourceTable(table=source)])

    def sees(action: Action, name: ObjectName) -> bool:
        return action is Action.READ or name[1] == "open"

    (found,) = one_table(lambda: view, {}, sees).creationMetadata.sourceTables
    assert found.table.parameters == {"x": "1"}


def _refused(client: Any, call: str) -> str:
    return str(raised(client.ask(call, **DROPS[call])).message)


DROPS: dict[str, Any] = {
    "drop_table": {"dbname": "open", "name": "t", "deleteData": False},
    "drop_table_req": {"dropTableReq": api.DropTableRequest(dbName="open", tableName="t")},
    "drop_database": {"name": "open", "deleteData": False, "cascade": True},
    "drop_database_req": {"req": api.DropDatabaseRequest(name="open", cascade=True, deleteData=False)},
}


@pytest.mark.parametrize("call", DROPS)
def test_a_refused_drop_names_the_views_that_may_be_listed(server: Guarded, call: str) -> None:
    server.rule('[[rule]]\nusers = ["ada"]\nobjects = ["hive.open"]\nallow = ["list", "drop"]\n')
    root, ada = server.client("root"), server.client("ada")
    other, told = ("open", "open.seen, ") if "table" in call else ("shut", "")
    for database, name in ((other, "seen"), ("shut", "unseen")):
        view = _view(name, "open.t")
        view.dbName = view.creationMetadata.dbName = database
        done(root.ask("create_table", tbl=view))
    begin = "Cannot drop table as it is used in the following materialized views"
    assert _refused(root, call) == f"{begin} [{other}.seen, shut.unseen]"
    assert _refused(ada, call) == f"{begin} [{told}others that you may not list]"

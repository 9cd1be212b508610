"""A database moves from an upstream to hmstats' own tables, and back."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import HMSTATS
from tests.gateway.doors import long
from tests.gateway.moving.filled import answers, fill, move
from tests.gateway.places.several import Several, several

from hmstats.client import connect
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.mirrors.routes import Route, StoredRoutes
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store
from hmstats.wire.idl import hive_metastore as api

KILLED_AFTER = [3.5, 2.5, 4.5, 6.0][: int(os.environ.get("HMSTATS_TEST_MOVE_KILLS", "1"))]
"""Seconds after its start in which a move is killed, on a machine that is not busy before, in and behind the copy."""


@pytest.fixture(scope="module")
def places(hmstats_sqlite: int, other_sqlite: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    first, second = (Metastore("hmstats-sqlite", port, 4.0) for port in (hmstats_sqlite, other_sqlite))
    with several(tmp_path_factory.mktemp("moving"), first, second) as found:
        yield found


@pytest.mark.slow
def test_a_database_moves_and_back_and_is_answered_as_before(places: Several) -> None:
    fill(places, "m_all", tables=2)
    before = answers(places.front, "m_all")
    planned = move(places, "m_all", "--dry-run")
    assert planned.stdout.splitlines()[-1] == (
        "database m_all with 3 tables and 6 partitions can be moved to hmstats; nothing was changed"
    )
    left = "not moved: privileges that Hive stores, history of statistics, who wrote them"
    assert planned.stdout.splitlines()[-2] == left
    done = move(places, "m_all")
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (0, [left, "database m_all is in hmstats from now on"])
    assert answers(places.front, "m_all") == before
    assert places.front.client().get_all_databases().count("m_all") == 1
    assert move(places, "m_all") == (2, "", "hmstats: database m_all is in hmstats already\n")
    back = move(places, "m_all", "--to", "first", "--json")
    assert json.loads(back.stdout)["reasons"] == []
    assert json.loads(back.stdout)["moved"]
    assert json.loads(back.stdout)["not_moved"] == []
    assert answers(places.front, "m_all") == before
    places.front.client().drop_table("m_all", "t1", False)
    assert places.first.client().get_all_tables("m_all") == ["t0", "v"]


@pytest.mark.slow
def test_what_was_changed_since_is_not_taken_back(places: Several) -> None:
    fill(places, "m_changed")
    assert move(places, "m_changed").returncode == 0
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours:
        ours.put_partition_statistics("m_changed.t0", [StatisticsSet((long(4, 5),), "day=1")])
    client = places.front.client()
    client.drop_function("m_changed", "f")
    for flags in (("--dry-run",), ()):
        done = move(places, "m_changed", "--to", "first", *flags)
        assert done.returncode == 1
        lines = done.stdout.splitlines()
        assert any(each.startswith("statistics of m_changed.t0 day=1 a (hive) is ") for each in lines)
        assert "function m_changed.f is missing in hmstats, and " in done.stdout
        assert lines[-1] == "database m_changed was not moved"
    assert client.get_functions("m_changed", "*") == []
    client.drop_table("m_changed", "v", False)  # its place takes changes again
    assert sorted(places.first.client().get_all_tables("m_changed")) == ["t0", "v"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["transactional", "locked", "statistics locked"])
def test_what_cannot_be_moved_is_named(places: Several, kind: str) -> None:
    database = f"m_{kind.replace(' ', '_')}"
    client = places.front.client()
    places.make(database)
    insert_only = {"transactional": "true", "transactional_properties": "insert_only"}
    places.table(database, "t", parameters=insert_only if kind == "transactional" else {})
    if kind == "locked":
        component = api.LockComponent(type=1, level=2, dbname=database, tablename="t")
        client.lock(api.LockRequest(component=[component], user="ben", hostname="h"))
    if kind == "statistics locked":
        subprocess.run(
            [HMSTATS, "lock", f"{database}.t", "--metastore", f"thrift://127.0.0.1:{places.front.port}"], check=True
        )
    wanted = {
        "transactional": f"table {database}.t is transactional",
        "locked": "of ben is on t",
        "statistics locked": f"statistics of {database}.t are locked: unlock them first",
    }[kind]
    for flags in (("--dry-run",), ()):
        done = move(places, database, *flags)
        assert done.returncode == 1, done.stderr
        assert wanted in done.stdout
    assert places.front.client().get_all_tables(database) == ["t"]
    places.table(database, "u")  # its place takes changes again
    assert sorted(places.first.client().get_all_tables(database)) == ["t", "u"]


@pytest.mark.slow
def test_preferences_move_along_and_what_waits_does_not(places: Several) -> None:
    fill(places, "m_stated")
    of = DatabaseName("hive", "m_stated")
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours:
        ours.preferences.change(Subject(of), {"publish": "false", "guard": "off"})
        ours.preferences.change(Subject(of, "t0", column="a"), {"statistics": "bounds"})
        ours.put_partition_statistics("m_stated.t0", [StatisticsSet((long(40, 50),), "day=1")])
        waits = "statistics of m_stated.t0 wait: publish or reject them first\n"
        assert move(places, "m_stated").stdout == waits + "database m_stated was not moved\n"
        assert ours.pending.publish("m_stated.t0") == (1, 0)

        def stated() -> set[tuple[str, str, str]]:
            return {(str(each.subject), each.name, each.text) for each in ours.preferences.listed("m_stated")}

        before = stated()
        assert len(before) == 3
        assert move(places, "m_stated").returncode == 0
        assert stated() == before
        ours.put_partition_statistics("m_stated.t0", [StatisticsSet((long(60, 70),), "day=1")])
        assert move(places, "m_stated", "--to", "first").stdout == waits + "database m_stated was not moved\n"
        assert ours.pending.reject("m_stated.t0") == 1
        ours.preferences.change(Subject(of), {}, ["guard"])
        back = move(places, "m_stated", "--to", "first").stdout
        assert "preference guard of database m_stated is missing in hmstats, and off in upstream first" in back
        ours.preferences.change(Subject(of), {"guard": "off"})
        assert move(places, "m_stated", "--to", "first").returncode == 0
        assert stated() == before


@pytest.mark.slow
def test_statistics_move_though_new_ones_of_everything_wait(places: Several) -> None:
    fill(places, "m_waiting")
    before = answers(places.front, "m_waiting")
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours:
        ours.preferences.change(Subject(), {"publish": "false"})
        done = move(places, "m_waiting")
        ours.preferences.change(Subject(), {}, ["publish"])
        assert done.stdout.splitlines()[-1] == "database m_waiting is in hmstats from now on"
        assert ours.pending.listed("m_waiting") == []
    assert answers(places.front, "m_waiting") == before


@pytest.mark.slow
def test_while_a_database_is_moved_it_is_read_and_not_changed(places: Several) -> None:
    fill(places, "m_mark")
    before = answers(places.front, "m_mark")
    store = open_store(f"sqlite:///{places.folder}/hmstats.sqlite", pool_size=1, statement_seconds=10)
    mark = Route("first", "a mover that was killed")
    assert StoredRoutes(store).change(DatabaseName("hive", "m_mark"), None, mark)
    store.close()
    time.sleep(1)
    client = places.front.client()
    assert answers(places.front, "m_mark") == before
    with pytest.raises(api.MetaException, match="m_mark must not be changed while it is moved"):
        client.drop_table("m_mark", "t0", True)
    with connect(f"thrift://127.0.0.1:{places.front.port}", retries=0) as ours, pytest.raises(Exception, match="moved"):
        ours.put_table_statistics("m_mark.t0", StatisticsSet((long(1, 2),)))
    assert move(places, "m_mark", "--to", "first").returncode == 0  # gives it up
    time.sleep(1)
    client.drop_function("m_mark", "f")
    client.create_function(
        api.Function("f", "m_mark", "x.Y", "me", ownerType=1, functionType=1, resourceUris=[], createTime=0)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seconds", KILLED_AFTER)
def test_a_move_that_is_killed_leaves_one_place_in_charge_and_goes_on(places: Several, seconds: float) -> None:
    database = f"m_killed_{round(seconds * 10)}"
    fill(places, database, tables=3)
    before = answers(places.front, database)
    command = [HMSTATS, "move", database]
    with subprocess.Popen(command, cwd=places.folder, stdout=subprocess.DEVNULL) as mover:
        time.sleep(seconds)
        mover.kill()
    assert answers(places.front, database) == before
    assert places.front.client().get_all_databases().count(database) == 1
    done = move(places, database)
    assert done.returncode == 0 or "already" in done.stderr, done
    time.sleep(1)
    assert answers(places.front, database) == before
    places.front.client().drop_table(database, "v", False)
    assert "v" in places.first.client().get_all_tables(database)


def test_a_database_that_is_nowhere_is_refused(places: Several) -> None:
    assert move(places, "m_nowhere") == (2, "", "hmstats: upstream first has no database m_nowhere\n")
    wanted = "hmstats: upstream third is not in the settings, which have first, second\n"
    assert move(places, "m_nowhere", "--to", "third") == (2, "", wanted)


def test_every_database_is_closed(places: Several, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the settings of the last upstream are wrong, for which the databases of the others are open already."""
    opened, closed = list[Store](), list[Store]()
    open_one, close_one = Store.open, Store.close

    def open_noted(*given: Any, **more: Any) -> Store:
        opened.append(open_one(*given, **more))
        return opened[-1]

    def close_noted(store: Store) -> None:
        closed.append(store)
        close_one(store)

    monkeypatch.setattr(Store, "open", open_noted)
    monkeypatch.setattr(Store, "close", close_noted)
    for more in ([], ["--to", "third"]):
        assert move(places, "m_nowhere", *more).returncode == 2
    settings = (places.folder / "hmstats.toml").read_text()
    wrong = settings.replace(f"thrift://127.0.0.1:{places.second.port}", "http://127.0.0.1/second")
    (tmp_path / "hmstats.toml").write_text(wrong)
    assert "found http://127.0.0.1" in move(replace(places, folder=tmp_path), "m_nowhere").stderr
    assert len(opened) >= 9
    assert set(map(id, opened)) == set(map(id, closed))


@pytest.mark.slow
@pytest.mark.parametrize("flavour", [pytest.param(each, marks=pytest.mark.hive) for each in HIVES])
def test_a_database_of_a_hive_moves_and_back(
    request: pytest.FixtureRequest, hmstats_sqlite: int, tmp_path: Path, flavour: str
) -> None:
    port = request.getfixturevalue(re.sub(r"\W", "_", flavour))
    first = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0)
    second = Metastore(flavour, port, float(flavour.removeprefix("hive-")))
    with several(tmp_path, first, second) as places:
        fill(places, "b_of_hive")
        before = said_by_all(places.front, "b_of_hive")
        for way in (["--dry-run"], [], ["--to", "second"]):
            done = move(places, "b_of_hive", *way)
            assert done.returncode == 0, done
            assert said_by_all(places.front, "b_of_hive") == before


def said_by_all(front: Metastore, database: str) -> dict[str, Any]:
    """What a metastore says of a database, but for names of catalogs, which Hive 2.3 does not know."""
    catalog = re.compile(r"\\?'(catalogName|catName)\\?': (None|\\?'hive\\?')")
    return {key: catalog.sub("", str(each)) for key, each in answers(front, database).items()}


@pytest.mark.slow
def test_a_database_moves_to_postgresql_with_many_partitions(
    postgres_server: str, postgres_template: str, hmstats_sqlite: int, other_sqlite: int, tmp_path: Path
) -> None:
    first, second = (Metastore("hmstats-sqlite", port, 4.0) for port in (hmstats_sqlite, other_sqlite))
    with ExitStack() as stack:
        url = stack.enter_context(fresh_database(postgres_server, postgres_template))
        places = stack.enter_context(several(tmp_path, first, second, database=url))
        fill(places, "b_many")
        places.front.database = "b_many"
        more = [[f"many {each}"] for each in range(600)]
        places.front.add_partitions(*more, table="t0", columns={"a": "bigint"})
        before = answers(places.front, "b_many")
        done = move(places, "b_many")
        assert done.returncode == 0, done
        assert answers(places.front, "b_many") == before
        assert len(places.front.client().get_partition_names("b_many", "t0", -1)) == 603

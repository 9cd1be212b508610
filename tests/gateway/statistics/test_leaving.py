"""Statistics that a gateway has not sent, of tables that others changed at the upstream meanwhile."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.commands import run_here
from tests.fixtures.metastores import Metastore
from tests.fixtures.ports import free_port
from tests.fixtures.servers import HMSTATS, serving
from tests.gateway.doors import COLUMNS, Doors, bounds, long, of_all, until
from tests.gateway.gateways import Upstream, UpstreamSide

from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api


@pytest.fixture
def unsent(hmstats_sqlite: int, tmp_path: Path) -> Iterator[Doors]:
    """A gateway that sends nothing, before tables t and u."""
    direct, upstream = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0), f"thrift://127.0.0.1:{hmstats_sqlite}"
    settings = {"upstream_writes": "off"}
    with direct.clients, serving(tmp_path, "--upstream", upstream, settings=settings) as port:
        doors = Doors(direct, replace(direct, port=port))
        direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        for table in ("t", "u"):
            direct.table(table, columns=COLUMNS)
            doors.ours.put_table_statistics(doors.name(table), StatisticsSet(of_all(1)))
        yield doors


def leave(doors: Doors, folder: Path) -> tuple[int, list[str]]:
    """How `hmstats leave --write` ends, and what it says."""
    upstream = f"thrift://127.0.0.1:{doors.direct.port}"
    done = run_here("leave", "--database", f"sqlite:///{folder}/hmstats.sqlite", "--upstream", upstream, "--write")
    return done.returncode, done.stdout.splitlines()


def test_a_table_that_was_dropped_at_the_upstream_keeps_nobody_from_leaving(unsent: Doors, tmp_path: Path) -> None:
    unsent.direct.client().drop_table(unsent.direct.database, "t", True)
    code, (said,) = leave(unsent, tmp_path)
    assert (code, said.partition(": ")[0]) == (0, "the upstream has all statistics that it can store")
    assert bounds(unsent.there.table_statistics(unsent.name("u"), ["a"])) == [(1, 10)]


def test_a_table_whose_statistics_are_left_to_the_upstream_is_named_with_the_reason(
    unsent: Doors, tmp_path: Path
) -> None:
    table = unsent.direct.read_table()
    table.tableType, table.viewOriginalText, table.viewExpandedText = "VIRTUAL_VIEW", "select 1", "select 1"
    unsent.direct.client().alter_table(unsent.direct.database, "t", table)
    code, lines = leave(unsent, tmp_path)
    assert (code, lines[0]) == (
        3,
        f"{unsent.name()}: not sent: statistics of it are left to the upstream: it is a view",
    )


def test_statistics_of_a_table_that_was_renamed_at_the_upstream_go_to_it(unsent: Doors, tmp_path: Path) -> None:
    rename(unsent.direct, "t", "w")
    code, lines = leave(unsent, tmp_path)
    assert code == 0, lines
    for table in ("w", "u"):
        assert bounds(unsent.there.table_statistics(unsent.name(table), ["a"])) == [(1, 10)]


def test_tables_of_which_statistics_wait_are_named(unsent: Doors, tmp_path: Path) -> None:
    unsent.ours.preferences.change(Subject(DatabaseName("hive", unsent.direct.database)), {"publish": "false"})
    for table in ("u", "t"):
        unsent.ours.put_table_statistics(unsent.name(table), StatisticsSet(of_all(5)))
    code, lines = leave(unsent, tmp_path)
    assert (code, lines) == (
        3,
        [
            f"{unsent.name('t')}: statistics wait here and are not sent: publish or reject them first",
            f"{unsent.name('u')}: statistics wait here and are not sent: publish or reject them first",
            "these statistics are at the gateway alone",
        ],
    )
    for table in ("u", "t"):
        unsent.ours.pending.reject(unsent.name(table))
    assert leave(unsent, tmp_path)[0] == 0


@pytest.mark.parametrize("command", ["leave", "adopt"])
def test_a_command_passes_by_an_address_that_hangs(
    unsent: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """No chore has found out yet which address hangs, as in a server."""
    monkeypatch.setenv("HMSTATS__UPSTREAM_HANGING_SECONDS", "0.5")
    monkeypatch.setenv("HMSTATS__UPSTREAM_SECONDS", "20")
    database = ("--database", f"sqlite:///{tmp_path}/hmstats.sqlite")
    with Upstream(read_until_the_end) as hanging:
        addresses = f"thrift://127.0.0.1:{hanging.address[1]},thrift://127.0.0.1:{unsent.direct.port}"
        done = run_here(command, *database, "--upstream", addresses, "--write")
    assert done.returncode == 0, done
    if command == "leave":
        assert bounds(unsent.there.table_statistics(unsent.name(), ["a"])) == [(1, 10)]


@pytest.mark.parametrize("command", ["leave", "adopt"])
def test_what_a_command_logs_is_not_in_its_answer(unsent: Doors, tmp_path: Path, command: str) -> None:
    """It logs that the first address takes no connection, and asks the second one."""
    addresses = f"thrift://127.0.0.1:{free_port()},thrift://127.0.0.1:{unsent.direct.port}"
    database = ("--database", f"sqlite:///{tmp_path}/hmstats.sqlite")
    arguments = [HMSTATS, command, *database, "--upstream", addresses, "--write", "--json"]
    # In a process of its own: in this one, other tests may have configured the log.
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["tables"]
    assert "upstream_away" in done.stderr


def test_a_table_that_was_renamed_at_the_upstream_keeps_its_sketches(doors: Doors) -> None:
    if doors.direct.generation < 4:
        pytest.skip("its tables have no ids")
    doors.here.table(columns=COLUMNS)
    doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 3, values=("1", "2", "2")),)))
    until([(1, 3)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
    rename(doors.direct, "t", "w")
    with pytest.raises(CallRefused, match="NoSuchObject"):
        doors.ours.table_statistics(doors.name(), ["a"])
    assert [each.value for each in doors.ours.top_k(doors.name("w"), "a", 1).values] == [2]


def read_until_the_end(side: UpstreamSide) -> None:
    while side.request() is not None:
        pass


def rename(door: Metastore, old: str, new: str) -> None:
    table = door.read_table(old)
    table.tableName = new
    door.client().alter_table_with_environment_context(door.database, old, table, None)

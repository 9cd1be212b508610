"""Two gateways on one PostgreSQL, one of which is killed between the upstream's answer to a change and its own write.

The other one must not answer with statistics of what is gone, whether or not the upstream got the call, neither while
the call is under way for all that anybody knows nor when it has been given up.
"""

import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.forked_servers import ForkedServer
from tests.fixtures.metastores import Metastore
from tests.gateway.doors import COLUMNS, Doors, bounds, long, of_all, until
from tests.gateway.gateway_process import gateway_process, kill
from tests.gateway.held_upstream import Hold, way_to

from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.store.mirrors import calls
from hmstats.store.mirrors.calls import CallUnderWay
from hmstats.store.opening import open_store
from hmstats.wire.idl import hive_metastore as api

_Change = Callable[[Any, str], object]
CHANGES: dict[str, _Change] = {
    "drop_table": lambda client, database: client.drop_table(database, "t", False),
    "truncate_table": lambda client, database: client.truncate_table(database, "t", None),
    "drop_database": lambda client, database: client.drop_database(database, False, True),
}
EVERY = [(name, hold) for name in CHANGES for hold in Hold]
SEED = int(os.environ.get("HMSTATS_TEST_SEED", "1"))
CASES = EVERY if os.environ.get("HMSTATS_TEST_EVERY_STEP") else random.Random(SEED).sample(EVERY, 2)


@contextmanager
def gateway(folder: Path, upstream: int, database: str) -> Iterator[tuple[ForkedServer, int]]:
    """The process and the port of a gateway that gives up on a call after seconds."""
    folder.mkdir()
    lines = ["upstream_seconds = 5", "upstream_connect_seconds = 1", "upstream_write_seconds = 0.2"]
    (folder / "hmstats.toml").write_text("\n".join(lines))
    with gateway_process(folder, upstream, database) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize(("name", "hold"), CASES)
def test_a_gateway_that_is_killed_in_a_change_leaves_nothing_stale_to_another(
    hmstats_sqlite: int, postgres_server: str, postgres_template: str, tmp_path: Path, name: str, hold: Hold
) -> None:
    direct = Metastore("hmstats-sqlite", hmstats_sqlite, 4.0)
    with (
        fresh_database(postgres_server, postgres_template) as database,
        way_to(direct.port) as (way, between),
        direct.clients,
        gateway(tmp_path / "one", between, database) as (killed, one),
        gateway(tmp_path / "two", direct.port, database) as (_, two),
    ):
        make(direct)
        doors, other = (Doors(direct, replace(direct, port=port)) for port in (one, two))
        direct.table(columns=COLUMNS)
        doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
        assert bounds(other.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]
        until([(1, 10)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
        client = doors.here.client()
        with way.holding(name, hold), ThreadPoolExecutor(1) as executor:
            asked = executor.submit(CHANGES[name], client, direct.database)
            way.wait_held()
            kill(killed)
            if hold is Hold.BEFORE:
                way.drop_held()
            with suppress(Exception):
                asked.result()
            way.let_go()
        assert len(under_way(database)) == 1
        if name != "truncate_table" and hold is Hold.AFTER:
            if name == "drop_database":
                make(direct)
            direct.table(columns=COLUMNS)
        told = bounds(doors.there.table_statistics(doors.name(), ["a"]))
        assert bounds(other.ours.table_statistics(doors.name(), ["a"])) == told
        other.ours.put_table_statistics(doors.name(), StatisticsSet((long(5, 6),)))
        assert bounds(other.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
        until([(5, 6)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
        until(0, lambda: len(under_way(database)))
        assert "call_lost" in (tmp_path / "two" / "server.log").read_text()
        assert bounds(other.ours.table_statistics(doors.name(), ["a"])) == [(5, 6)]
        other.ours.put_table_statistics(doors.name(), StatisticsSet((long(7, 8),)))
        assert bounds(other.ours.table_statistics(doors.name(), ["a"])) == [(7, 8)]
        until([(7, 8)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))


def under_way(database: str) -> list[CallUnderWay]:
    """The calls under way that the gateways know of."""
    store = open_store(database, pool_size=1, statement_seconds=10)
    try:
        with store.read() as connection:
            return calls.listed(connection)
    finally:
        store.close()


def make(direct: Metastore) -> None:
    """Make the test's database."""
    direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))

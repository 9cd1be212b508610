"""A gateway that is killed or stopped while it sends statistics: the next one sends them, and is not held up long."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.forked_servers import ForkedServer
from tests.fixtures.metastores import Metastore
from tests.gateway.doors import COLUMNS, Doors, bounds, of_all, until
from tests.gateway.gateway_process import gateway_process, kill
from tests.gateway.held_upstream import Hold, way_to

from hmstats.model.statistics.column_statistics import StatisticsSet

_SENT = "set_aggr_stats_for"


@contextmanager
def gateway(folder: Path, upstream: int) -> Iterator[tuple[ForkedServer, int]]:
    """The process and the port of a gateway."""
    with gateway_process(folder, upstream, f"sqlite:///{folder}/hmstats.sqlite") as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("hold", Hold)
def test_what_a_killed_gateway_was_sending_is_sent_by_the_next(
    our_metastore: Metastore, tmp_path: Path, hold: Hold
) -> None:
    direct = our_metastore
    direct.table(columns=COLUMNS)
    with way_to(direct.port) as (way, between), way.holding(_SENT, hold):
        with gateway(tmp_path, between) as (killed, port):
            doors = Doors(direct, replace(direct, port=port))
            doors.ours.put_table_statistics(doors.name(), StatisticsSet(of_all(1)))
            way.wait_held()
            kill(killed)
        way.let_go()
        began = time.monotonic()
        with gateway(tmp_path, between) as (_, port):
            doors = Doors(direct, replace(direct, port=port))
            assert bounds(doors.ours.table_statistics(doors.name(), ["a"])) == [(1, 10)]
            until([(1, 10)], lambda: bounds(doors.there.table_statistics(doors.name(), ["a"])))
            doors.here.client().drop_table(direct.database, "t", True)
            assert time.monotonic() - began < 120, "a killed gateway's claim held for ten minutes once"


@pytest.mark.slow
def test_a_gateway_that_is_stopped_ends_what_it_sends_and_leaves_no_claim(
    our_metastore: Metastore, tmp_path: Path
) -> None:
    """The next one's changes of the table would wait until a claim is taken for a killed gateway's."""
    direct, tables, log = our_metastore, ("t", "u", "v"), tmp_path / "server.log"
    with way_to(direct.port) as (way, between), way.holding(_SENT, Hold.AFTER):
        with gateway(tmp_path, between) as (stopped, port):
            doors = Doors(direct, replace(direct, port=port))
            for table in tables:
                direct.table(table, columns=COLUMNS)
                doors.ours.put_table_statistics(doors.name(table), StatisticsSet(of_all(1)))
            way.wait_held()
            stopped.terminate()
            until(True, lambda: '"stopping"' in log.read_text())
            time.sleep(2)
            way.let_go()
            stopped.wait()
        with closing(sqlite3.connect(tmp_path / "hmstats.sqlite")) as database:
            claims = database.execute('SELECT "CLAIMED_UNTIL" FROM "HMSTATS_MIRROR"').fetchall()
        assert claims == [(0,), (0,), (0,)]
        assert sum(len(doors.there.table_statistics(doors.name(each), ["a"])) for each in tables) == 1
        with gateway(tmp_path, between):
            until(3, lambda: sum(len(doors.there.table_statistics(doors.name(each), ["a"])) for each in tables))

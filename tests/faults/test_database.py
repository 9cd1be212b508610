"""A database that is killed, or that ends all its connections, in the middle of writes: the service goes on by itself.

HMSTATS_TEST_DATABASE_KILLS says how often PostgreSQL is killed, HMSTATS_TEST_BREAKS how often its connections end.
"""

import os
import random
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from tests.faults.harness.database_process import postgres
from tests.faults.harness.leaks import THREADS, check_leaks, open_files
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, metastore_of, workers
from tests.faults.harness.writers import go_on, patiently, summary, writing
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.server.monitoring.test_health import get

from hmstats.store.database.store import database_url
from hmstats.store.migration import migrate

KILLS = int(os.environ.get("HMSTATS_TEST_DATABASE_KILLS", "2"))
BREAKS = int(os.environ.get("HMSTATS_TEST_BREAKS", "5"))
WRITERS = 4
_END_ALL = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
    "WHERE datname = current_database() AND application_name = 'hmstats'"
)


@pytest.fixture
def url(postgres: str) -> str:
    return postgres


@pytest.mark.slow
def test_a_database_that_is_killed_in_the_middle_of_writes(tmp_path: Path) -> None:
    with postgres() as database:
        migrate.upgrade(database.url)
        with workers(tmp_path, database.url, threads=THREADS) as server, metastore_of(server.port) as metastore:
            files = {pid: open_files(pid) for pid in server.alive()}
            with writing(metastore, WRITERS) as writers:
                go_on(writers)
                for _ in range(KILLS):
                    time.sleep(random.random() * 0.3)
                    database.kill()
                    time.sleep(random.random() * 0.2)
                    database.start()
                    for writer in writers:
                        patiently(writer.check)
                    go_on(writers)
            for writer in writers:
                writer.check()
            metastore.clients.close()
            held = check_leaks(server, database.url, files)
            assert server.metric("hmstats_worker_deaths") == 0
    assert any(writer.refusals for writer in writers)
    print(f"{KILLS} times the database was killed; {summary(writers)}; no worker lost; {held}")


@pytest.mark.slow
def test_a_server_that_needs_its_database_is_not_ready_without_it(tmp_path: Path) -> None:
    with postgres() as database:
        migrate.upgrade(database.url)
        port = free_port()
        settings = {"ready_needs_database": True, "http_port": port, "workers": 2}
        with serving(tmp_path, database=database.url, settings=settings):
            await_readiness(port, 200)
            database.kill()
            await_readiness(port, 503)
            database.start()
            await_readiness(port, 200)


def await_readiness(port: int, status: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while get(("127.0.0.1", port), "/health/ready")[0] != status:
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
def test_all_connections_to_the_database_end_in_the_middle_of_writes(url: str, tmp_path: Path) -> None:
    with workers(tmp_path, url, threads=THREADS) as server, metastore_of(server.port) as metastore:
        files = {pid: open_files(pid) for pid in server.alive()}
        ended = 0
        with writing(metastore, WRITERS) as writers:
            go_on(writers)
            for _ in range(BREAKS):
                ended += _end_all(url)
                go_on(writers)
                for writer in writers:
                    patiently(writer.check)
        metastore.clients.close()
        held = check_leaks(server, url, files)
        assert server.metric("hmstats_worker_deaths") == 0
    assert ended >= BREAKS
    print(f"{BREAKS} times all connections ended, {ended} together; {summary(writers)}; no worker lost; {held}")


def test_nobody_notices_that_idle_connections_ended(url: str, tmp_path: Path) -> None:
    """A pool of which every connection is broken costs no call."""
    with workers(tmp_path, url, threads=THREADS) as server, metastore_of(server.port) as metastore:
        with writing(metastore, 1) as (writer,):
            go_on([writer])
        ended = 0
        for _ in range(BREAKS):
            ended += _end_all(url)
            writer.check()
            metastore.client().set_aggr_stats_for(writer.request(writer.answered))
            writer.check()
    assert ended >= BREAKS
    assert not writer.refusals
    print(f"{BREAKS} times all idle connections ended, {ended} together; no call was refused")


def _end_all(url: str) -> int:
    """End the connections of all servers to a database; how many there were."""
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        count = int(connection.execute(text(_END_ALL)).scalar_one())
    engine.dispose()
    return count

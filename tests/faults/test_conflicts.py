"""A database that lets a writer lose: the server tries again, and its client hears nothing of it."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, make_url, text
from tests.behaviour.structs import of_partitions, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.store.database.store import database_url
from hmstats.wire.idl import hive_metastore as api

PATIENCE_SECONDS = 30
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


@pytest.fixture
def url(postgres: str) -> str:
    return postgres


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    found = create_engine(database_url(url))
    yield found
    found.dispose()


def test_a_writer_that_a_deadlock_ends_is_tried_again(url: str, engine: Engine, tmp_path: Path) -> None:
    """The other holds a partition's row and wants the table's, which the server holds while it wants the partition's.

    The other looks for deadlocks much later than the server does, so it is the server that loses.
    """
    with _metastore(url, tmp_path) as metastore, ThreadPoolExecutor(1) as threads, engine.connect() as other:
        metastore.table(keys=("k",))
        metastore.add_partitions(("a",))
        other.execute(text("SET deadlock_timeout = '30s'"))
        other.execute(text('SELECT 1 FROM "PARTITIONS" FOR UPDATE'))
        sent = statistics(metastore, statistics_of("l"), partition="k=a")
        call = threads.submit(metastore.client().update_partition_column_statistics, sent)
        _wait(engine, lambda connection: connection.execute(text(_WAITING)).scalar_one() == 1)
        other.execute(text('SELECT 1 FROM "TBLS" FOR UPDATE'))
        other.commit()
        assert call.result(PATIENCE_SECONDS)
        assert of_partitions(metastore, ["k=a"], "l")["k=a"]["l"].longStats.numDVs == 5
        _wait(engine, lambda connection: connection.execute(text(_DEADLOCKS)).scalar_one() == 1)


def test_writers_that_cannot_be_put_in_an_order_are_tried_again(url: str, tmp_path: Path) -> None:
    """If transactions are serialisable, one of two that read and write the same is refused."""
    serialisable = make_url(url).update_query_dict({"options": "-c default_transaction_isolation=serializable"})
    writers, times = 4, 3
    with _metastore(serialisable.render_as_string(hide_password=False), tmp_path) as metastore:
        metastore.table()
        ready = threading.Barrier(writers)

        def merge(_: int) -> None:
            ready.wait()
            for _ in range(times):
                sent = [statistics(metastore, statistics_of("l", numNulls=1))]
                assert metastore.client().set_aggr_stats_for(
                    api.SetPartitionsStatsRequest(colStats=sent, needMerge=True)
                )

        with ThreadPoolExecutor(writers) as threads:
            list(threads.map(merge, range(writers)))
        assert of_table(metastore, "l")["l"].longStats.numNulls == writers * times


@contextmanager
def _metastore(url: str, folder: Path) -> Iterator[Metastore]:
    with serving(folder, database=url) as port:
        metastore = Metastore("hmstats-postgres", port, 4.0)
        with metastore.clients:
            metastore.client().create_database(api.Database(name=metastore.database))
            yield metastore


def _wait(engine: Engine, happened: Callable[[Connection], Any]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        with engine.connect() as connection:
            if happened(connection):
                return
        time.sleep(0.01)
    pytest.fail(f"it did not happen in {PATIENCE_SECONDS} seconds")

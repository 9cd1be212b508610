"""Two servers over one database whose clients write the same columns: one row a column, whole sets, no write lost.

HMSTATS_TEST_UPSERTS says how many writes there are together.
"""

import itertools
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, create_engine, func, select
from tests.behaviour.structs import STRUCTS, of_table, statistics, statistics_of
from tests.faults.worker_processes import PATIENCE_SECONDS, metastore_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.store.engine import database_url as database_url_of
from hmstats.store.schema import HMSTATS_TABLE_VERSION, TAB_COL_STATS
from hmstats.wire.idl import hive_metastore as api

UPSERTS = int(os.environ.get("HMSTATS_TEST_UPSERTS", "400"))
WRITERS = 4
COLUMNS = ("l", "d", "s", "dt")


@pytest.fixture
def servers(database_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Two servers over one database, each as its clients see it."""
    with ExitStack() as stack:
        found = []
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
            port = stack.enter_context(serving(tmp_path / name, database=database_url, settings={"workers": 1}))
            found.append(stack.enter_context(metastore_of(port)))
        found[0].client().create_database(api.Database(name=found[0].database))
        found[0].table()
        yield found


@pytest.mark.slow
def test_two_servers_race_for_the_same_columns(servers: list[Metastore], database_url: str) -> None:
    before = _one(database_url, HMSTATS_TABLE_VERSION, "VERSION")
    numbers, done = itertools.count(1), threading.Event()

    def write(writer: int) -> list[int]:
        metastore = servers[writer % len(servers)]
        client, answered = metastore.client(), []
        while (number := next(numbers)) <= UPSERTS:
            sent = statistics(metastore, *(statistics_of(column, numDVs=number) for column in COLUMNS))
            assert client.update_table_column_statistics(sent)
            answered.append(number)
        return answered

    def read(reader: int) -> int:
        wanted = api.TableStatsRequest(dbName=servers[0].database, tblName="t", colNames=COLUMNS, engine="hive")
        client, looks = servers[reader].client(), 0
        while not done.is_set():
            found = {_distinct(each) for each in client.get_table_statistics_req(wanted).tableStats}
            assert len(found) <= 1, f"columns of several writes at once: {found}"
            looks += 1
        return looks

    with ThreadPoolExecutor(WRITERS + len(servers)) as threads:
        readers = [threads.submit(read, number) for number in range(len(servers))]
        writers = [threads.submit(write, number) for number in range(WRITERS)]
        try:
            answered = [each.result(PATIENCE_SECONDS + UPSERTS) for each in writers]
        finally:
            done.set()
        looks = sum(each.result(PATIENCE_SECONDS) for each in readers)
    assert sorted(number for each in answered for number in each) == list(range(1, UPSERTS + 1))
    last = [{column: _number(data, column) for column, data in of_table(each, *COLUMNS).items()} for each in servers]
    assert last[0] == last[1]
    assert set(last[0].values()) <= {each[-1] for each in answered if each}, "the last write of nobody"
    assert len(set(last[0].values())) == 1
    assert _one(database_url, TAB_COL_STATS) == len(COLUMNS)
    assert _one(database_url, HMSTATS_TABLE_VERSION, "VERSION") == before + UPSERTS
    print(f"{UPSERTS} upserts of the same {len(COLUMNS)} columns through two servers, looked at {looks} times")


def test_two_servers_race_for_columns_that_have_no_row(servers: list[Metastore], database_url: str) -> None:
    tables, writers = [f"n{number}" for number in range(10)], 4
    for each in tables:
        servers[0].table(each)
    ready = threading.Barrier(writers)

    def write(writer: int) -> None:
        metastore = servers[writer % len(servers)]
        client = metastore.client()
        for table in tables:
            ready.wait(PATIENCE_SECONDS)
            sent = statistics(metastore, *(statistics_of(column) for column in STRUCTS), table=table)
            assert client.update_table_column_statistics(sent)

    with ThreadPoolExecutor(writers) as threads:
        list(threads.map(write, range(writers)))
    assert _one(database_url, TAB_COL_STATS) == len(tables) * len(STRUCTS)


def _one(url: str, table: Table, column: str | None = None) -> int:
    """The one number in a column, or how many rows a table has."""
    engine = create_engine(database_url_of(url))
    with engine.connect() as connection:
        wanted = select(func.count()).select_from(table) if column is None else select(table.c[column])
        found = int(connection.execute(wanted).scalar_one())
    engine.dispose()
    return found


def _distinct(column: Any) -> int:
    return _number(column.statsData, column.colName)


def _number(data: Any, column: str) -> int:
    return int(getattr(data, STRUCTS[column][0]).numDVs)

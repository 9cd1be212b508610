"""Two servers over one database whose clients write the same columns: one row a column, whole sets, no write lost.

HMSTATS_TEST_UPSERTS says how many writes there are together.
"""

import itertools
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select, create_engine, func, select
from tests.behaviour.structs import STRUCTS, of_table, statistics, statistics_of
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, metastore_of
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.store.database.store import database_url
from hmstats.store.schema import HMSTATS_TABLE_VERSION, TAB_COL_STATS, TBLS
from hmstats.wire.idl import hive_metastore as api

UPSERTS = int(os.environ.get("HMSTATS_TEST_UPSERTS", "400"))
WRITERS = 4
COLUMNS = ("l", "d", "s", "dt")


@dataclass(frozen=True)
class Pair:
    """Two servers, each as its clients see it, over the database at a URL."""

    url: str
    servers: tuple[Metastore, Metastore]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp(f"race-{request.param}")
    with ExitStack() as stack:
        url = f"sqlite:///{folder}/hmstats.sqlite"
        if request.param == "postgres":
            server, template = (request.getfixturevalue(f"postgres_{each}") for each in ("server", "template"))
            url = stack.enter_context(fresh_database(server, template))
        one, other = (_server(stack, folder / name, url) for name in ("one", "other"))
        one.client().create_database(api.Database(name=one.database))
        yield Pair(url, (one, other))


def _server(stack: ExitStack, folder: Path, url: str) -> Metastore:
    folder.mkdir()
    port = stack.enter_context(serving(folder, database=url, settings={"workers": 1, "exclusive": False}))
    return stack.enter_context(metastore_of(port))


@pytest.mark.slow
def test_two_servers_race_for_the_same_columns(pair: Pair) -> None:
    servers = pair.servers
    servers[0].table("t")
    before = _version(pair.url, "t")
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
            done.wait(0.005)
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
    assert _rows(pair.url, "t") == len(COLUMNS)
    # Writes that meet in one server are one transaction.
    assert before + UPSERTS // WRITERS <= _version(pair.url, "t") <= before + UPSERTS
    print(f"{UPSERTS} upserts of the same {len(COLUMNS)} columns through two servers, looked at {looks} times")


def test_two_servers_race_for_columns_that_have_no_row(pair: Pair) -> None:
    servers = pair.servers
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
    assert [_rows(pair.url, table) for table in tables] == [len(STRUCTS)] * len(tables)


def _version(url: str, table: str) -> int:
    of_table = HMSTATS_TABLE_VERSION.c.TBL_ID == select(TBLS.c.TBL_ID).where(TBLS.c.TBL_NAME == table).scalar_subquery()
    return _one(url, select(HMSTATS_TABLE_VERSION.c.VERSION).where(of_table))


def _rows(url: str, table: str) -> int:
    return _one(url, select(func.count()).select_from(TAB_COL_STATS).where(TAB_COL_STATS.c.TABLE_NAME == table))


def _one(url: str, query: Select[Any]) -> int:
    """The one number that a query finds."""
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        found = int(connection.execute(query).scalar_one())
    engine.dispose()
    return found


def _distinct(column: Any) -> int:
    return _number(column.statsData, column.colName)


def _number(data: Any, column: str) -> int:
    return int(getattr(data, STRUCTS[column][0]).numDVs)

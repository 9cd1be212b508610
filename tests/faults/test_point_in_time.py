"""A PostgreSQL that is restored to a point in time from a base backup and its log, under two servers that go on.

The backup is taken, and the point set, in the middle of writes. Every answer of both servers is then held against the
history of each table: what was written, and that the restore brought an older value back.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from tests.behaviour.coherence.histories import Event, Register
from tests.behaviour.structs import statistics, statistics_of
from tests.faults.harness.database_process import Postgres, postgres
from tests.faults.harness.server_process import two_servers
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, wait_until
from tests.faults.harness.writers import BROKEN, REFUSED, patiently
from tests.fixtures.metastores import Metastore

from hmstats.store.database.store import database_url
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

TABLES = 4
WRITES = 30
"""Answered writes of each table before the backup, before the point, after it, and after the restore."""


_mine = threading.local()


@contextlib.contextmanager
def connected(metastore: Metastore) -> Iterator[Any]:
    """The thread's client of a server, another one after its connection broke."""
    clients: dict[Any, Any] = _mine.__dict__
    client = clients[metastore.port] = clients.get(metastore.port) or metastore.client()
    try:
        yield client
    except BROKEN:
        del clients[metastore.port]
        raise


@dataclass
class Watched:
    """A table whose number of distinct values counts up, its history, and the one who writes it."""

    name: str
    register: Register = field(default_factory=lambda: Register.holding(0))
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def writes(self) -> int:
        """How many writes were answered."""
        return len(self.register.writes)

    def write(self, metastore: Metastore) -> None:
        """Write the next number, as often as it takes."""
        number = next(self.numbers)
        sets = statistics(metastore, statistics_of("l", numDVs=number), table=self.name)

        def send() -> None:
            with connected(metastore) as client:
                client.update_table_column_statistics(sets)

        with self.register.writing(number):
            patiently(send)

    def read(self, metastore: Metastore) -> None:
        """Note what a server answers, if it does."""
        with contextlib.suppress(*BROKEN, *REFUSED):
            self.ask(metastore)

    def ask(self, metastore: Metastore) -> None:
        """Note what a server answers."""
        wanted = api.TableStatsRequest(dbName=metastore.database, tblName=self.name, colNames=["l"], engine="hive")

        def ask() -> int:
            with connected(metastore) as client:
                found = client.get_table_statistics_req(wanted).tableStats
            return int(found[0].statsData.longStats.numDVs) if found else 0

        self.register.reading(ask)


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A PostgreSQL that keeps its log, at the newest revision."""
    with postgres(archives=True) as found:
        migrate.upgrade(found.url)
        yield found


class Load:
    """Writers and readers at work on tables, through two servers; the writers can be halted."""

    def __init__(self, tables: list[Watched], metastores: list[Metastore]) -> None:
        self.tables, self.metastores = tables, metastores
        self._writing, self._done, self._halted = threading.Event(), threading.Event(), threading.Semaphore(0)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Writers of all tables and readers of half of them: of the others servers keep what they answered last."""
        self._writing.set()
        with ThreadPoolExecutor(2 * TABLES) as threads:
            running = [threads.submit(work, number) for work in (self._write, self._read) for number in range(TABLES)]
            try:
                yield
            finally:
                self._done.set()
            for each in running:
                each.result(PATIENCE_SECONDS)

    def go_on(self) -> None:
        """Returns when each table was written so many times more."""
        self._writing.set()
        goals = [table.writes + WRITES for table in self.tables]
        wait_until(lambda: all(table.writes >= goal for table, goal in zip(self.tables, goals, strict=True)))

    def halt(self) -> None:
        """Returns when no write is under way any more."""
        self._writing.clear()
        for _ in self.tables:
            assert self._halted.acquire(timeout=PATIENCE_SECONDS)

    def read_all(self) -> None:
        """Read every table through both servers."""
        for table, metastore in itertools.product(self.tables, self.metastores):
            patiently(partial(table.ask, metastore))

    def _write(self, number: int) -> None:
        while not self._done.is_set():
            self.tables[number].write(self.metastores[number % 2])
            if not self._writing.is_set():
                self._halted.release()
                while not (self._writing.wait(0.05) or self._done.is_set()):
                    pass

    def _read(self, number: int) -> None:
        while not self._done.is_set():
            for table in self.tables[: TABLES // 2]:
                table.read(self.metastores[number % 2])


@pytest.mark.slow
def test_no_answer_is_stale_after_a_restore_to_a_point_in_time(database: Postgres, tmp_path: Path) -> None:
    tables = [Watched(f"t{number}") for number in range(TABLES)]
    with two_servers(tmp_path, database.url) as servers, contextlib.ExitStack() as stack:
        metastores = [Metastore("hmstats-postgres", each.port, 4.0, database="restored") for each in servers]
        for each in metastores:
            stack.enter_context(each.clients)
        metastores[0].client().create_database(api.Database(name="restored"))
        for table in tables:
            metastores[0].table(table.name)
        load = Load(tables, metastores)
        with load.at_work():
            load.go_on()
            backup = database.base_backup()
            load.go_on()
            execute(database, "SELECT pg_create_restore_point('there')")
            load.go_on()
            ((segment,),) = execute(database, "SELECT pg_walfile_name(pg_switch_wal())")
            wait_until((database.archive / str(segment)).exists)
            load.halt()
            load.read_all()
            lost = restore(database, backup, tables)
            for table, count in zip(tables, lost, strict=True):  # versions meet those of kept answers
                for number in range(count):
                    table.write(metastores[number % 2])
            load.read_all()
            load.go_on()
        load.read_all()
    untrue = {table.name: stale[:5] for table in tables if (stale := table.register.untrue())}
    assert not untrue
    reads = sum(len(table.register.reads) for table in tables)
    assert min(lost) > 0, "the point lies before what was written last"
    print(
        f"{sum(lost)} writes were lost by the restore, {sum(t.writes for t in tables)} stood; {reads} reads were true"
    )


def restore(database: Postgres, backup: Path, tables: list[Watched]) -> list[int]:
    """Have the database come back as it was at the point, and note so; how many writes of each table that undoes."""
    began = time.monotonic()
    database.kill()
    database.recover(backup, "there")
    wait_until(lambda: answers(database))
    ended = time.monotonic()
    now = dict(execute(database, 'SELECT "TABLE_NAME", "NUM_DISTINCTS" FROM "TAB_COL_STATS"'))
    lost = [int(str(table.register.writes[-1].value)) - now[table.name] for table in tables]
    for table in tables:
        table.register.writes.append(Event(now[table.name], began, ended))
    return lost


def answers(database: Postgres) -> bool:
    """Whether the database has reached the point and takes connections."""
    try:
        execute(database, "SELECT 1")
    except OperationalError:
        return False
    return True


def execute(database: Postgres, statement: str) -> list[tuple[Any, ...]]:
    """Execute a statement of its own; its rows."""
    engine = create_engine(database_url(database.url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        rows = [tuple(row) for row in connection.execute(text(statement)).all()]
    engine.dispose()
    return rows

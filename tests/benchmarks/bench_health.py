"""How long lists by health take over a catalog of very many tables: `python -m tests.benchmarks.bench_health`.

The rows of tables and of their health are put into a PostgreSQL that flushes, and into an SQLite; a server over each is
asked on one connection. Printed are the median and the 95th percentile of each question, whole answers over Thrift.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, func, insert, select, update
from tests.benchmarks.harness.durable import durable_server
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.servers import serving

from hmstats import client
from hmstats.store.migration import migrate
from hmstats.store.schema import DBS, HMSTATS_HEALTH, HMSTATS_HEALTH_PROGRESS, TBLS

_DATABASES = 100
_TIMES = 60
_ROWS_AT_ONCE = 5_000
_FIRST_ID = 1_000_000


def main() -> None:
    """Fill each database, and print a line for each question."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--tables", type=int, default=100_000)
    parser.add_argument("--databases", nargs="+", default=["postgresql", "sqlite"])
    given = parser.parse_args()
    tables = given.tables
    print(f"{tables:,} tables, load {os.getloadavg()[0]:.0f}")
    for kind in given.databases:
        with _filled(kind, tables) as port, client.connect(f"thrift://127.0.0.1:{port}") as service:
            _measure(kind, service)


@contextmanager
def _filled(kind: str, tables: int) -> Iterator[int]:
    """The port of a server over a database with so many tables."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        url = f"sqlite:///{folder}/hmstats.sqlite"
        if kind == "postgresql":
            url = stack.enter_context(fresh_database(stack.enter_context(durable_server())))
        migrate.upgrade(url)
        with serving(folder, database=url) as port, client.connect(f"thrift://127.0.0.1:{port}") as service:
            list(service.health.tables("d0"))  # the first walk through all tables is over
        _fill(url, tables)
        yield stack.enter_context(serving(folder, database=url))


def _fill(url: str, tables: int) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg2://"))
    with engine.begin() as connection:
        catalog = connection.execute(select(DBS.c.CTLG_NAME)).scalars().first() or "hive"
        place = connection.execute(select(DBS.c.DB_LOCATION_URI)).scalars().first() or "file:/tmp"
        connection.execute(
            insert(DBS),
            [
                {"DB_ID": _FIRST_ID + each, "NAME": f"d{each}", "CTLG_NAME": catalog, "DB_LOCATION_URI": place}
                for each in range(_DATABASES)
            ],
        )
        for begin in range(0, tables, _ROWS_AT_ONCE):
            some = range(begin, min(begin + _ROWS_AT_ONCE, tables))
            connection.execute(insert(TBLS), [_table(each) for each in some])
            connection.execute(insert(HMSTATS_HEALTH), [_health(each) for each in some])
        assert connection.execute(select(func.count()).select_from(HMSTATS_HEALTH)).scalar_one() >= tables
        connection.execute(update(HMSTATS_HEALTH_PROGRESS).values(WALKED_TO=None))
    engine.dispose()


def _table(number: int) -> dict[str, Any]:
    return {
        "TBL_ID": _FIRST_ID + number,
        "CREATE_TIME": 0,
        "DB_ID": _FIRST_ID + number % _DATABASES,
        "LAST_ACCESS_TIME": 0,
        "RETENTION": 0,
        "TBL_NAME": f"t{number:06}",
        "TBL_TYPE": "EXTERNAL_TABLE",
    }


def _health(number: int) -> dict[str, Any]:
    # 7919 is a prime, so that neighbours by name are none by health.
    return {
        "TBL_ID": _FIRST_ID + number,
        "PART_ID": 0,
        "VERSION": 0,
        "HEALTH": number * 7_919 % 101,
        "REASON": "changed",
        "NUM_ROWS": 1_000,
        "ROWS_THEN": 900,
        "MOVED_ROWS": 0,
        "MARKED": False,
        "NUM_COLUMNS": 9,
        "ANALYZED_COLUMNS": 9,
        "ANALYZED_AT": 0,
    }


def _measure(kind: str, service: client.Metastore) -> None:
    health = service.health
    questions: Sequence[tuple[str, Callable[[], Any]]] = (
        ("the worst 100 of all", lambda: health.page(None, None, most=100)),
        ("the worst 1,000 of all", lambda: health.page(None, None, most=1_000)),
        ("the worst 100 below 20 of a database", lambda: health.page("d7", None, below=20, most=100)),
        ("the worst 100 of databases d1*", lambda: health.page("d1*", None, most=100)),
        ("a table by its name", lambda: health.page("d7", "t000007", most=100)),
    )
    for title, ask in questions:
        seconds = []
        for _ in range(_TIMES):
            began = time.perf_counter()
            ask()
            seconds.append(time.perf_counter() - began)
        seconds.sort()
        median, late = 1_000 * seconds[_TIMES // 2], 1_000 * seconds[_TIMES * 95 // 100]
        print(f"{kind:12} {title:40} {median:8.1f} ms {late:8.1f} ms", flush=True)


if __name__ == "__main__":
    main()

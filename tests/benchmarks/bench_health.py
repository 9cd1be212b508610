"""How long a page of tables by health takes, and how long it takes to judge all tables, among ever more of them.

Run with `python -m tests.benchmarks.bench_health [--sizes 1000 100000]`, on a PostgreSQL that flushes. A page has 100 tables and
is asked for over Thrift: the first one, one in the middle, one of a database, and one of a pattern of names.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy import create_engine, text
from tests.benchmarks.durable import durable_server
from tests.fixtures.metastores import Metastore
from tests.fixtures.postgres import fresh_database
from tests.fixtures.servers import serving

from hmstats.client import connect
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

_DATABASES = 20
_COPIES = (
    """INSERT INTO "SDS" ("SD_ID", "CD_ID", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES", "NUM_BUCKETS", "SERDE_ID")
    SELECT 1000000 + n, "CD_ID", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES", "NUM_BUCKETS", "SERDE_ID"
    FROM "SDS", generate_series(1, :size) n WHERE "SD_ID" = (SELECT max("SD_ID") FROM "SDS" WHERE "SD_ID" < 1000000)""",
    """INSERT INTO "TBLS" ("TBL_ID", "CREATE_TIME", "DB_ID", "LAST_ACCESS_TIME", "RETENTION", "SD_ID", "TBL_NAME", "TBL_TYPE",
    "IS_REWRITE_ENABLED") SELECT 1000000 + n, 0, (SELECT min("DB_ID") FROM "DBS" WHERE "NAME" = 'd' || (n % :databases)), 0, 0,
    1000000 + n, 'table_' || n, 'MANAGED_TABLE', false FROM generate_series(1, :size) n""",
    """INSERT INTO "TABLE_PARAMS" ("TBL_ID", "PARAM_KEY", "PARAM_VALUE")
    SELECT 1000000 + n, key, (n * 7 % 1000)::text FROM generate_series(1, :size) n, unnest(ARRAY['numRows', 'numFiles', 'totalSize']) key""",
)


def _measure(size: int, shown: Table) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(fresh_database(stack.enter_context(durable_server())))
        migrate.upgrade(url)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        port = stack.enter_context(serving(folder, database=url, settings={"workers": 1, "log_level": "warning"}))
        metastore = Metastore("bench", port, 4.0, "d0")
        stack.enter_context(metastore.clients)
        for number in range(_DATABASES):
            metastore.client().create_database(api.Database(name=f"d{number}", description="", parameters={}))
        metastore.table("first", {f"c{each}": "bigint" for each in range(10)})
        service = stack.enter_context(connect(f"thrift://127.0.0.1:{port}"))
        engine = create_engine(url)
        with engine.begin() as connection:
            for each in _COPIES:
                connection.execute(text(each), {"size": size, "databases": _DATABASES})
            connection.execute(text('UPDATE "HMSTATS_HEALTH_PROGRESS" SET "WALKED_TO" = 0'))
            connection.execute(text("""UPDATE "HMSTATS_HEALTH_PROGRESS" SET "EVENT_ID" = "EVENT_ID" """))
        began = time.perf_counter()
        while not service.health.page(most=1).complete:
            pass
        judged = time.perf_counter() - began
        with engine.begin() as connection:
            connection.execute(text('UPDATE "HMSTATS_HEALTH" SET "HEALTH" = "TBL_ID" * 31 % 101'))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
        engine.dispose()
        asked: dict[str, Callable[[], object]] = {
            "first page": lambda: service.health.page(most=100),
            "middle page": lambda: service.health.page(most=100, after="50.1050000"),
            "of a database": lambda: service.health.page("d7", most=100),
            "of a pattern": lambda: service.health.page(None, "table_9*", most=100),
        }
        row = [f"{size:,}", f"{judged:,.1f} s"]
        for ask in asked.values():
            row.append(f"{1_000 * statistics.median(_seconds(ask) for _ in range(15)):.1f} ms")
        shown.add_row(*row)


def _seconds(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return time.perf_counter() - began


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000])
    shown = Table("Tables", "All judged in", "First page", "Middle page", "Of a database", "Of a pattern")
    for each in parser.parse_args().sizes:
        _measure(each, shown)
    Console().print(shown)


if __name__ == "__main__":
    main()

"""The memory of worker processes over a large table, while clients ask ever new questions about it.

Run with `python -m tests.benchmarks.bench_memory [--partitions 100000] [--columns 50] [--seconds 30]`. The server has
its default settings and a PostgreSQL of its own, which is filled first: partitions through another server, statistics
by SQL. Every kind of call is made for a while from several connections, each time with other arguments, then all kinds
in turn. Printed are megabytes of the parent and of each worker after each kind; nothing is asserted.
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from sqlalchemy import Connection, create_engine, text
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.processes import family_of, listener_of, memory_of
from tests.benchmarks.harness.questions import DATABASE, KEY, KINDS, TABLE, Shape, ask, value
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.sketch.distinct.hive_hll import HiveHll
from hmstats.store.database.store import database_url
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

_AT_ONCE = 1_000
_LAST = 10
"""All kinds of calls together are made so many times as long as one."""
_DISTINCT_VALUES = 100_000
_FIRST_ID = 1_000_000_000
"""Of the rows that are written by SQL: far from those that servers give."""
_FILL = """
INSERT INTO "PART_COL_STATS" (
    "CS_ID", "CAT_NAME", "DB_NAME", "TABLE_NAME", "PARTITION_NAME", "COLUMN_NAME", "COLUMN_TYPE", "PART_ID",
    "LONG_LOW_VALUE", "LONG_HIGH_VALUE", "DOUBLE_LOW_VALUE", "DOUBLE_HIGH_VALUE", "NUM_NULLS", "NUM_DISTINCTS",
    "AVG_COL_LEN", "MAX_COL_LEN", "LAST_ANALYZED", "ENGINE", "BIT_VECTOR"
)
SELECT
    :first_id + row_number() OVER (), 'hive', :database, :table, "PART_NAME", 'c' || number, kind, "PART_ID",
    CASE kind WHEN 'bigint' THEN number END, CASE kind WHEN 'bigint' THEN 1000000 + "PART_ID" END,
    CASE kind WHEN 'double' THEN number END, CASE kind WHEN 'double' THEN 0.5 + "PART_ID" END, 10, 90000,
    CASE kind WHEN 'string' THEN 7.5 END, CASE kind WHEN 'string' THEN 20 END, 1700000000, 'hive',
    CASE WHEN "PART_NAME" < :unsketched THEN :bit_vector END
FROM "PARTITIONS", generate_series(0, :columns - 1) AS number,
    LATERAL (SELECT (array['bigint', 'double', 'string'])[1 + number % 3] AS kind) AS kinds
"""


def fill(url: str, shape: Shape) -> None:
    """Make the table's partitions through a server, and their statistics by SQL."""
    migrate.upgrade(url)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        settings = {"notifications": False, "log_level": "warning"}
        metastore = Metastore(
            "bench", stack.enter_context(serving(folder, database=url, settings=settings)), 4.0, DATABASE
        )
        stack.enter_context(metastore.clients)
        metastore.client().create_database(api.Database(name=DATABASE, description="", parameters={}))
        metastore.table(TABLE, shape.types, keys=[KEY])
        for start in range(0, shape.partitions, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, shape.partitions))
            metastore.add_partitions(*([value(each)] for each in numbers), table=TABLE, columns=shape.types)
    engine = create_engine(database_url(url), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        _fill_statistics(connection, shape)
    engine.dispose()


def _fill_statistics(connection: Connection, shape: Shape) -> None:
    sketch = HiveHll()
    sketch.add_hashes(np.random.default_rng(1).integers(2**64, size=_DISTINCT_VALUES, dtype=np.uint64))
    values = {
        "first_id": _FIRST_ID,
        "database": DATABASE,
        "table": TABLE,
        "unsketched": f"{KEY}={value(shape.sketched)}",
        "bit_vector": sketch.to_bytes(),
        "columns": shape.columns,
    }
    connection.execute(text("SET session_replication_role = replica"))  # foreign keys are not looked at
    connection.execute(text(_FILL), values)
    connection.execute(text("VACUUM ANALYZE"))


def measure(url: str, shape: Shape, connections: int, seconds: float) -> Table:
    """Ask a server over the filled database; what its processes hold after each kind of call."""
    table = Table(title=f"{shape.partitions:,} x {shape.columns}: MB at most, now, and the share of these (PSS)")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        port = stack.enter_context(serving(folder, database=url))
        parent = listener_of(port)
        workers = sorted(family_of(parent).keys() - {parent})
        for name in ("call", "calls", "parent", *(f"worker {number}" for number in range(len(workers)))):
            table.add_column(name, justify="left" if name == "call" else "right")
        table.add_row("none yet", "", *_memories([parent, *workers]))
        for title, kinds in (*((each.title, [each]) for each in KINDS), ("all of them in turn", KINDS)):
            calls = ask(port, shape, kinds, connections, seconds * (_LAST if len(kinds) > 1 else 1))
            table.add_row(title, f"{calls:,}", *_memories([parent, *workers]))
    return table


def _memories(processes: Iterable[int]) -> Iterator[str]:
    return (", ".join(f"{each:,.0f}" for each in memory_of(process)) for process in processes)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--partitions", type=int, default=100_000, help="of the table")
    parser.add_argument("--columns", type=int, default=50, help="with statistics in each partition")
    parser.add_argument("--sketched", type=int, default=1_000, help="partitions with bit vectors")
    parser.add_argument(
        "--seconds", type=float, default=30.0, help=f"of each kind of call, and {_LAST} times that of all"
    )
    parser.add_argument("--connections", type=int, default=4, help="that ask at once")
    given = parser.parse_args()
    shape = Shape(given.partitions, given.columns, given.sketched)
    with durable_server() as server, fresh_database(server) as url:
        fill(url, shape)
        Console(width=140).print(measure(url, shape, given.connections, given.seconds))


if __name__ == "__main__":
    main()

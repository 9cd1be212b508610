"""How long an answer takes that stored sketches give, over more and more partitions.

Run with `python -m tests.benchmarks.bench_answers [--partitions 1 10 100 1000] [--calls 30]`. A server of ours on
SQLite; each partition has the whole sketches of 100,000 rows. The fastest call says what an answer costs, the median
what it took on this machine with all else that it had to do. Before each call the table is changed, so that the answer
is made anew; the third number is the fastest of calls without a change between, whose answer the server has kept.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.client import Metastore as Client
from hmstats.client import connect
from hmstats.client.asked.asked_table import AskedTable
from hmstats.model.catalog.names import table_name
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.wire.idl import hive_metastore as api

ROWS = 100_000
COLUMNS = {"n": "bigint", "s": "string"}
_DATABASE = "bench"
QUESTIONS: dict[str, Callable[[AskedTable], object]] = {
    "count": lambda table: table.count(),
    "bounds of a number": lambda table: table.bounds("n"),
    "distinct numbers": lambda table: table.distinct("n"),
    "distinct texts": lambda table: table.distinct("s"),
    "5 quantiles": lambda table: table.quantile("n", [0, 0.25, 0.5, 0.75, 1]),
    "10 most frequent": lambda table: table.top("s"),
}


def main() -> None:
    """Fill a server, ask, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 10, 100, 1000])
    parser.add_argument("--calls", type=int, default=30)
    given = parser.parse_args()
    shown = Table("Milliseconds: fastest (median), kept", *(f"{count:,} partitions" for count in given.partitions))
    with tempfile.TemporaryDirectory() as name, serving(Path(name)) as port:
        service = Metastore("hmstats-sqlite", port, 4.0, database=_DATABASE)
        with service.clients, connect(f"thrift://127.0.0.1:{port}") as metastore:
            service.client().create_database(api.Database(name=_DATABASE, description="", parameters={}))
            columns = _columns()
            for count in given.partitions:
                _fill(service, count, columns)
            tables = [metastore.table(f"{_DATABASE}.t{count}") for count in given.partitions]
            for title, question in QUESTIONS.items():
                shown.add_row(title, *(_measured(metastore, question, table, given.calls) for table in tables))
    Console(width=120).print(shown)


def _columns() -> tuple[ColumnStatistics, ...]:
    numbers = np.random.default_rng(1).zipf(1.5, ROWS)
    values = {"n": pa.array(numbers), "s": pa.array([f"value {each}" for each in numbers])}
    made = Provenance(exact=False, rows_seen=ROWS, sample_fraction=1.0, tool="bench")
    found = []
    for column, type_ in COLUMNS.items():
        kind = kind_of(type_)
        assert kind is not None
        state = ColumnAccumulator.empty(kind)
        state.update(values[column])
        top = state.top_k.to_bytes() if state.top_k else None
        found.append(ColumnStatistics(column, type_, state.statistics(), top, made))
    return tuple(found)


def _fill(service: Metastore, count: int, columns: Sequence[ColumnStatistics]) -> None:
    table = f"t{count}"
    service.table(table, COLUMNS, keys=("k",))
    service.add_partitions(*((str(number),) for number in range(count)), table=table, columns=COLUMNS)
    name, keys = table_name(_DATABASE, table), [f"k={number}" for number in range(count)]
    with connect(f"thrift://127.0.0.1:{service.port}") as metastore:
        metastore.put_partition_statistics(name, (StatisticsSet(tuple(columns), each) for each in keys))
        metastore.put_partition_parameters(name, ["k"], {each: {"numRows": str(ROWS)} for each in keys})


def _measured(metastore: Client, question: Callable[[AskedTable], object], table: AskedTable, calls: int) -> str:
    anew, kept = [], []
    for number in range(calls):
        metastore.put_table_parameters(table.table.name, {"changed": str(number)})
        anew.append(_milliseconds(question, table))
        kept.append(_milliseconds(question, table))
    return f"{min(anew):.1f} ({median(anew):.1f}), {min(kept):.1f}"


def _milliseconds(question: Callable[[AskedTable], object], table: AskedTable) -> float:
    begin = time.perf_counter()
    question(table)
    return 1000 * (time.perf_counter() - begin)


if __name__ == "__main__":
    main()

"""What a partition costs in tables of ever more partitions: flat, or growing with the table.

Run with `python -m tests.benchmarks.bench_growth [--sizes 100 1000 10000 100000] [--columns 5]`. The server keeps
nothing, so that every call reads its database, a PostgreSQL. Printed are the processor's microseconds for a partition,
the server's and the database's, and the memory of the server; nothing is asserted.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import make_url
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.processes import cpu_seconds, listener_of, peak_megabytes
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.client.connection.batches import batches
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

DATABASE = "growth"
AT_ONCE = 1_000
SETTINGS = {"answers_bytes": 0, "objects_bytes": 0, "notifications": False, "workers": 1, "log_level": "warning"}


class Growth:
    """A server over a PostgreSQL, and a client of it."""

    def __init__(self, stack: ExitStack, columns: int) -> None:
        database = stack.enter_context(durable_server())
        url = stack.enter_context(fresh_database(database))
        migrate.upgrade(url)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        port = stack.enter_context(serving(folder, database=url, settings=SETTINGS))
        self._columns = {f"c{number}": "bigint" for number in range(columns)}
        self._metastore = Metastore("bench", port, 4.0, DATABASE)
        stack.enter_context(self._metastore.clients)
        self._client = self._metastore.client()
        self._client.create_database(api.Database(name=DATABASE, description="", parameters={}))
        self._processes = listener_of(port), listener_of(make_url(database).port or 0)

    @property
    def peak_megabytes(self) -> float:
        """The memory of the server, parent and worker."""
        return peak_megabytes(self._processes[0])

    def costs(self, size: int) -> Iterator[tuple[str, list[float]]]:
        """What is done with a table of so many partitions, and the microseconds of both processes for each of them."""
        table = f"t{size}"
        names = [f"k=v{number:06}" for number in range(size)]
        self._metastore.table(table, self._columns, keys=["k"])
        steps: Sequence[tuple[str, Callable[[], object]]] = (
            ("add partitions", lambda: self._add(table, names)),
            ("write statistics", lambda: self._write(table, names)),
            ("read statistics", lambda: self._read(table, names)),
            ("aggregate of all", lambda: self._aggregate(table, names)),
            ("names of all", lambda: self._client.get_partition_names(DATABASE, table, -1)),
        )
        for title, act in steps:
            before = [cpu_seconds(each) for each in self._processes]
            act()
            spent = (cpu_seconds(each) - start for each, start in zip(self._processes, before, strict=True))
            yield title, [1e6 * each / size for each in spent]

    def _add(self, table: str, names: Sequence[str]) -> None:
        for some in batches(names, AT_ONCE):
            values = [[name.partition("=")[2]] for name in some]
            self._metastore.add_partitions(*values, table=table, columns=self._columns)

    def _write(self, table: str, names: Iterable[str]) -> None:
        for some in batches(names, AT_ONCE):
            sets = [self._statistics(table, name) for name in some]
            self._client.set_aggr_stats_for(
                api.SetPartitionsStatsRequest(colStats=sets, needMerge=False, engine="hive")
            )

    def _read(self, table: str, names: Iterable[str]) -> None:
        for some in batches(names, AT_ONCE):
            self._client.get_partitions_statistics_req(self._asked(table, some))

    def _aggregate(self, table: str, names: Sequence[str]) -> None:
        found = self._client.get_aggr_stats_for(self._asked(table, names))
        if found.partsFound != len(names):
            raise RuntimeError(f"{len(names)} partitions should be aggregated, found {found.partsFound}")

    def _asked(self, table: str, names: Sequence[str]) -> Any:
        return api.PartitionsStatsRequest(
            dbName=DATABASE, tblName=table, colNames=list(self._columns), partNames=list(names), engine="hive"
        )

    def _statistics(self, table: str, name: str) -> Any:
        data = api.LongColumnStatsData(lowValue=1, highValue=1_000_000, numNulls=10, numDVs=90_000)
        objects = [
            api.ColumnStatisticsObj(colName=column, colType=kind, statsData=api.ColumnStatisticsData(longStats=data))
            for column, kind in self._columns.items()
        ]
        description = api.ColumnStatisticsDesc(isTblLevel=False, dbName=DATABASE, tableName=table, partName=name)
        return api.ColumnStatistics(statsDesc=description, statsObj=objects, engine="hive")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000], help="partitions")
    parser.add_argument("--columns", type=int, default=5, help="columns with statistics")
    given = parser.parse_args()
    with ExitStack() as stack:
        growth = Growth(stack, given.columns)
        found = {size: dict(growth.costs(size)) for size in given.sizes}
        table = Table(title=f"CPU µs for a partition of {given.columns} columns, server + database, by partitions")
        table.add_column("call")
        for size in given.sizes:
            table.add_column(f"{size:,}", justify="right")
        for title in found[given.sizes[0]]:
            table.add_row(title, *(" + ".join(f"{each:,.0f}" for each in found[size][title]) for size in given.sizes))
        table.caption = f"peak memory of hmstats, parent and worker: {growth.peak_megabytes:,.0f} MB"
        Console(width=140).print(table)


if __name__ == "__main__":
    main()

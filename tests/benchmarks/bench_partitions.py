"""Distinct counts over ever more partitions of one column with bit vectors: first touches, with blocks and without.

Run with `python -m tests.benchmarks.bench_partitions [--sizes 100 1000 10000 100000] [--image FILE.svg]`. Partitions
have vectors of 2.5 kB, as of 20,000 distinct values each, on a PostgreSQL that flushes. Seconds are those of the
service, in this process and nothing cached; `again` is a server's, whose client sends bytes made before, those after an
alter are a client's. `--image` draws the others.
"""

import argparse
import io
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import psycopg2
from rich.console import Console
from rich.table import Table
from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import Clients
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.servers import serving
from tests.server.requests import request
from tests.service.statistics.filled import NAME, make_table

from hmstats import client
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading.aggregate import Aggregate, StatisticsAggregator
from hmstats.service.statistics.reading.partition_blocks import FEWEST_VECTORS, PartitionBlocks
from hmstats.sketch.distinct import hll_bytes
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

_AT_ONCE = 5_000
_RANKS = (1 - 2.0 ** -np.arange(0, 40)) ** 5
"""How likely it is that none of 5 hashes of a register has a higher rank."""
_COLORS = {"all": "#1f77b4", "all, blocks": "#2ca02c", "every second": "#d62728", "every second, blocks": "#9467bd"}
Figures = dict[str, float]
Result = TypeVar("Result")


def vectors(count: int) -> Iterator[bytes]:
    """Dense bit vectors of unlike partitions."""
    random = np.random.default_rng(7)
    for _ in range(count):
        yield hll_bytes.write_dense(12, 20_000, np.searchsorted(_RANKS, random.random(4096)).astype(np.uint8))


def fill(url: str, size: int) -> None:
    """Make the table and its partitions, and copy the rows of their statistics into the database."""
    store = Store.open(url)
    make_table(store, Path(tempfile.gettempdir()), [])
    store.close()
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        cursor.execute('SELECT "TBL_ID" FROM "TBLS"')
        (table,) = cursor.fetchone()
        rows = "".join(f"{each}\tp={each}\t{table}\t0\t0\t0\n" for each in range(1, size + 1))
        columns = '"PART_ID", "PART_NAME", "TBL_ID", "CREATE_TIME", "LAST_ACCESS_TIME", "WRITE_ID"'
        cursor.copy_expert(f'COPY "PARTITIONS" ({columns}) FROM STDIN', io.StringIO(rows))
        columns = '"CS_ID", "PART_ID", "COLUMN_NAME", "COLUMN_TYPE", "ENGINE", "NUM_NULLS", "LONG_LOW_VALUE", '
        columns += '"LONG_HIGH_VALUE", "NUM_DISTINCTS", "LAST_ANALYZED", "BIT_VECTOR"'
        found = vectors(size)
        for start in range(1, size + 1, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, size + 1))
            rows = "".join(
                f"{each}\t{each}\tl\tbigint\thive\t1\t{each}\t{each + 9}\t20000\t1700000000\t\\\\x{data.hex()}\n"
                for each, data in zip(numbers, found, strict=False)
            )
            cursor.copy_expert(f'COPY "PART_COL_STATS" ({columns}) FROM STDIN', io.StringIO(rows))
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    connection.close()


def measured(url: str, size: int) -> Figures:
    """The seconds of each way, the blocks' partitions a second, and their size on disk as a share of the rows'."""
    store = Store.open(url)
    blocks = PartitionBlocks(store, BoundedMemory(0))
    plain, fast = StatisticsAggregator(store), StatisticsAggregator(store, blocks=blocks)
    every = [f"p={each}" for each in range(1, size + 1)]
    asked: Mapping[str, Sequence[str]] = {"all": every, "every second": every[::2]}
    figures: Figures = {}
    expected: dict[str, Aggregate] = {}
    for title, names in asked.items():
        plain.partitions(NAME, names[:10], ["l"], "hive")
        figures[title], expected[title] = _timed(partial(plain.partitions, NAME, names, ["l"], "hive"))
    fast.partitions(NAME, every, ["l"], "hive")
    seconds, _ = _timed(blocks.run)
    figures["built a second"] = size / seconds if size >= FEWEST_VECTORS else 0
    for title, names in asked.items():
        figures[f"{title}, blocks"], found = _timed(partial(fast.partitions, NAME, names, ["l"], "hive"))
        if found != expected[title]:
            raise RuntimeError(f"{title} of {size} partitions should be {expected[title]}, found {found}")
    store.close()
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        tables = ("HMSTATS_VECTOR_BLOCK", "HMSTATS_NUMBER_BLOCK", "PART_COL_STATS")
        cursor.execute("SELECT " + ", ".join(f"pg_total_relation_size('\"{each}\"')" for each in tables))
        *of_blocks, of_rows = cursor.fetchone()
    connection.close()
    figures["disk"] = sum(of_blocks) / of_rows
    return figures


def again(url: str, size: int) -> float:
    """The seconds of a question that a server has answered before: those of half of the calls."""
    with tempfile.TemporaryDirectory(prefix="hmstats-bench-") as folder, Clients(1) as clients:
        names = [f"p={each}" for each in range(1, size + 1)]
        asked = api.PartitionsStatsRequest(
            dbName="default", tblName="t", colNames=["l"], partNames=names, engine="hive"
        )
        with serving(Path(folder), database=url, settings={"workers": 1}) as port:
            sent = request("get_aggr_stats_for", request=asked)
            clients.calls(port, "get_aggr_stats_for", [sent], 3.0)
            return clients.calls(port, "get_aggr_stats_for", [sent], 3.0).p50_ms / 1_000


def after_alter(url: str, size: int) -> Figures:
    """The seconds of an aggregate of all partitions, and of their names, right after a parameter of the table changed.

    Those before were answered, so that a server has in memory and in blocks what it keeps of the partitions.
    """
    with tempfile.TemporaryDirectory(prefix="hmstats-bench-") as folder:
        names = [f"p={each}" for each in range(1, size + 1)]
        with (
            serving(Path(folder), database=url, settings={"workers": 1}) as port,
            client.connect(f"thrift://127.0.0.1:{port}") as service,
        ):
            found: dict[str, list[float]] = {"aggregate after an alter": [], "names after an alter": []}
            for number in range(4):
                service.put_table_parameters(NAME, {"step": str(number)})
                asks: tuple[Callable[[], object], ...] = (
                    partial(service.aggregated_statistics, NAME, ["l"], names),
                    partial(service.partition_names, NAME),
                )
                for seconds, ask in zip(found.values(), asks, strict=True):
                    seconds.append(_timed(ask)[0])
    return {title: median(seconds[1:]) for title, seconds in found.items()}


def _timed(act: Callable[[], Result]) -> tuple[float, Result]:
    began = time.perf_counter()
    found = act()
    return time.perf_counter() - began, found


def picture(figures: Mapping[int, Figures]) -> str:
    """The seconds by partitions, both in powers of ten, as SVG."""
    sizes, titles = sorted(figures), list(_COLORS)
    seconds = [figures[size][title] for size in sizes for title in titles]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))

    def x(size: int) -> float:
        return 70 + 470 * (math.log10(size) - math.log10(sizes[0])) / (math.log10(sizes[-1] / sizes[0]) or 1)

    def y(value: float) -> float:
        return 300 - 260 * (math.log10(value) - low) / (high - low)

    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 350" font-family="sans-serif" font-size="13">',
        '<rect width="760" height="350" fill="white"/>',
        '<text x="70" y="22">Seconds of a first aggregate of one column with bit vectors, by partitions</text>',
    ]
    for power in range(low, high + 1):
        lines.append(f'<path d="M70 {y(10**power):.0f}H540" stroke="#ddd"/>')
        lines.append(f'<text x="62" y="{y(10**power) + 4:.0f}" text-anchor="end">{10**power:g}</text>')
    lines += [f'<text x="{x(size):.0f}" y="322" text-anchor="middle">{size:,}</text>' for size in sizes]
    for place, title in enumerate(titles):
        points = " ".join(f"{x(size):.0f},{y(figures[size][title]):.1f}" for size in sizes)
        lines.append(f'<polyline points="{points}" fill="none" stroke="{_COLORS[title]}" stroke-width="2"/>')
        lines.append(f'<text x="560" y="{60 + 22 * place}" fill="{_COLORS[title]}">{title}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000], help="partitions")
    parser.add_argument("--image", type=Path, help="the SVG file to draw")
    given = parser.parse_args()
    figures: dict[int, Figures] = {}
    with durable_server() as server:
        for size in given.sizes:
            with fresh_database(server) as url:
                migrate.upgrade(url)
                fill(url, size)
                figures[size] = {**measured(url, size), "again": again(url, size), **after_alter(url, size)}
                print(size, {title: round(each, 4) for title, each in figures[size].items()}, flush=True)
    table = Table(title="Aggregates of one column: seconds, partitions built a second, share of the disk")
    for title in ("partitions", *figures[given.sizes[0]]):
        table.add_column(title, justify="right")
    for size, found in figures.items():
        table.add_row(f"{size:,}", *(f"{each:,.4g}" for each in found.values()))
    Console(width=160).print(table)
    if given.image:
        given.image.write_text(picture(figures))


if __name__ == "__main__":
    main()

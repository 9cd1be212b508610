"""The demonstration: TPC-H tables analysed by Spark, kept by our server, and read back by clients that are not ours.

Run by `make demo`; SF=1 makes ten times the data of the default, 0.1. All files are under demo-data/. Ends with exit
code 1 when a distinct count is further from the exact one than it may be.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from comparison import comparison_table, verdict
from data import TABLES, make_data
from exact import exact_ndvs
from readers import read_with_apache_thrift, read_with_pymetastore
from rich.console import Console
from rich.table import Table
from serving import fresh_folder, running_server
from tables import DATABASE, create_tables

from hmstats.cli.output.analysis_output import progress_bar
from hmstats.collector import analyze
from hmstats.collector.spark.session import local_session

FOLDER = Path(__file__).resolve().parents[1] / "demo-data"
PARTITION = "ship_year=1994/ship_month=2"
HOW_TO_LOOK = "`make demo-web` shows these tables in a browser, at http://127.0.0.1:9088."

console = Console(highlight=False)
durations_seconds: dict[str, float] = {}


def main() -> int:
    """Run the five steps; 0 when every distinct count is near enough."""
    scale = os.environ.get("SF", "0.1")
    with step(f"TPC-H data, scale factor {scale}"):
        source = make_data(FOLDER, scale)
    run = fresh_folder(FOLDER / "run")
    with running_server(run) as (host, port):
        console.print(f"hmstats serves at {host}:{port}")
        fill(source, run / "warehouse", f"thrift://{host}:{port}")
        with step("Read by pymetastore"):
            found = {table: read_with_pymetastore(host, port, DATABASE, table) for table in TABLES}
        with step("Read by Apache thrift"):
            partition = read_with_apache_thrift(host, port, DATABASE, "lineitem", PARTITION)
    with step("Exact counts by DuckDB"):
        exact = {table: exact_ndvs(run / "warehouse" / f"{DATABASE}.db" / table, found[table]) for table in TABLES}
    for table in TABLES:
        print_wide(comparison_table(f"{DATABASE}.{table}", found[table], exact[table]))
    print_wide(comparison_table(f"{DATABASE}.lineitem {PARTITION}, read by Apache thrift", partition, {}))
    print_durations()
    sentence, good = verdict(found, exact)
    console.print(sentence)
    console.print(HOW_TO_LOOK)
    return 0 if good else 1


def fill(source: Path, warehouse: Path, metastore: str) -> None:
    """Make the tables with Spark, whose metastore is our server, and analyse them."""
    with step("Spark starts"):
        # Spark takes a path as it is: of one with a space, as_uri() would be another folder.
        spark = local_session(metastore, conf={"spark.sql.warehouse.dir": f"file:{warehouse}"})
    try:
        with step("Spark writes the tables"):
            create_tables(spark, source)
        for table in TABLES:
            name = f"{DATABASE}.{table}"
            with step(f"Analyse {name}"), progress_bar(f"Analysing {name}") as progress:
                report = analyze(spark, name, progress=progress)
            console.print(f"    {report.rows:,} rows, {report.partitions} partitions")
    finally:
        spark.stop()


@contextmanager
def step(title: str) -> Iterator[None]:
    """Say what begins, and keep how long it takes."""
    console.print(f"{title} ...")
    begin = time.perf_counter()
    yield
    durations_seconds[title] = time.perf_counter() - begin


def print_wide(table: Table) -> None:
    """Print a table; where that is no terminal, as wide as it is."""
    width = console.width if console.is_terminal else 200
    Console(highlight=False, width=width).print("", table)


def print_durations() -> None:
    """The seconds of each step."""
    table = Table("Step", box=None, pad_edge=False)
    table.add_column("Seconds", justify="right")
    for title, seconds in durations_seconds.items():
        table.add_row(title, f"{seconds:.1f}")
    console.print("", table, "")


if __name__ == "__main__":
    sys.exit(main())

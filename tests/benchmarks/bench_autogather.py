"""What statistics while writing cost: TPC-H's lineitem written plainly, with statistics, and analysed afterwards.

Run with `python -m tests.benchmarks.bench_autogather [--scale 0.3] [--data FOLDER]`; the data are made with tpchgen-cli
unless the folder has them. All runs are in one session of two cores; the median of each is printed, and nothing is
asserted.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.fixtures.servers import serving

from hmstats.collector import analyze
from hmstats.collector.autogather.target import new_table
from hmstats.collector.autogather.touched import Touched
from hmstats.collector.autogather.writer import writing
from hmstats.collector.spark.session import local_session

ROUNDS = 5
FILES = 4
_MASTER = "local[2]"


def lineitem(folder: Path, scale: float) -> Path:
    """The folder with lineitem's Parquet files, which are made if they are not there."""
    place = folder / f"sf{scale:g}"
    if not list(place.glob("lineitem/*.parquet")):
        place.mkdir(parents=True, exist_ok=True)
        tool = str(Path(sys.executable).parent / "tpchgen-cli")
        table = ["parquet", "-s", str(scale), "--tables=lineitem", f"--parts={FILES}", f"--output-dir={place}"]
        subprocess.run([tool, *table], check=True, capture_output=True)
    return place / "lineitem"


def measured(rounds: int, ways: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The median seconds of each way. They take turns, so that what else the machine does meets all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, act in ways.items():
            begin = time.perf_counter()
            act()
            if number:  # the first round warms up
                seconds[name].append(time.perf_counter() - begin)
    return {name: statistics.median(each) for name, each in seconds.items()}


def bench(spark: Any, rows: Any, kind: str, rounds: int) -> None:
    """Write the rows to files of a kind in every way, and print what each takes."""

    def plain(name: str) -> None:
        rows.write.mode("overwrite").format(kind).saveAsTable(name)

    def gathering() -> None:
        written = writing(rows).save_table("gathered", mode="overwrite", format=kind)
        assert written.gathered, written.reason

    def reading_files() -> None:
        settings = {"hmstats.autogather.reads": "files"}
        written = writing(rows, settings=settings).save_table("read", mode="overwrite", format=kind)
        assert written.gathered, written.reason

    def then_hmstats() -> None:
        plain("analysed")
        analyze(spark, "analysed")

    def then_spark() -> None:
        plain("analysed_by_spark")
        spark.sql("ANALYZE TABLE analysed_by_spark COMPUTE STATISTICS FOR ALL COLUMNS").collect()

    ways = {
        "plain write": lambda: plain("plain"),
        "write with statistics": gathering,
        **({"write with statistics, from its files": reading_files} if kind == "parquet" else {}),
        "plain write, then hmstats analyze": then_hmstats,
        "plain write, then Spark's ANALYZE FOR ALL COLUMNS": then_spark,
    }
    show(measured(rounds, ways))


def bench_keys(rows: Any, rounds: int) -> None:
    """Write the rows to 14 partitions of Parquet with and without observing the keys, and print what each takes."""
    keys = ("l_linestatus", "l_shipmode")

    def write(given: Any) -> None:
        given.write.mode("overwrite").format("parquet").partitionBy(*keys).saveAsTable("keyed")

    observed = {"plain write": lambda: write(rows), "its keys observed": lambda: write(_observed(rows, keys))}
    show(measured(rounds, observed))


def _observed(rows: Any, keys: Sequence[str]) -> Any:
    return Touched(new_table(rows, keys)).observe(rows)


def show(found: Mapping[str, float]) -> None:
    """Print what each way takes, and how much of a plain write that is."""
    least = found["plain write"]
    for name, seconds in found.items():
        print(f"{name:<52}{seconds:>8.2f} s{seconds / least:>8.2f} of a plain write")


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        source = lineitem(given.data or folder, given.scale)
        with serving(folder) as port:
            conf = {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
            spark = local_session(f"thrift://127.0.0.1:{port}", master=_MASTER, conf=conf)
            try:
                rows = spark.read.parquet(str(source))
                print(f"lineitem, scale {given.scale:g}: {rows.count():,} rows, {len(rows.columns)} columns")
                for kind in ("parquet", "orc"):
                    print(f"to {kind}:")
                    bench(spark, rows, kind, given.rounds)
                print("to partitions of parquet:")
                bench_keys(rows, given.rounds)
            finally:
                spark.stop()


if __name__ == "__main__":
    main()

"""How near the distinct values of a whole table are, made from its partitions: a Markdown table for the documentation.

TPC-H's lineitem by year and month of shipping, as in the demonstration. Beside ours stands what Hive answers as it
comes: the largest partition's number.

    python -m scripts.union_accuracy [SCALE]
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate

NAME = TableName("hive", "default", "lineitem")
MANY = 1_000
"""Sketches of fewer values are all but exact."""


@dataclass(frozen=True)
class Union:
    """One column's distinct values: exact, of the merged sketches, and of the largest partition."""

    column: str
    exact: int
    merged: int
    largest: int

    @property
    def error(self) -> float:
        """How far the merged number is from the exact one, as a fraction of it."""
        return abs(self.merged - self.exact) / self.exact

    @property
    def largest_error(self) -> float:
        """The same of the largest partition's."""
        return abs(self.largest - self.exact) / self.exact


def main() -> None:
    """Print the table."""
    scale = sys.argv[1] if len(sys.argv) > 1 else "0.1"
    with tempfile.TemporaryDirectory() as folder:
        found = compare(lineitem(Path(folder), scale), Path(folder))
    print("| column | exact | hmstats | error | Hive's default | error |")
    print("|---|---:|---:|---:|---:|---:|")
    for each in found:
        ours, hives = f"{each.merged:,} | {each.error:.2%}", f"{each.largest:,} | {each.largest_error:.1%}"
        print(f"| {each.column} | {each.exact:,} | {ours} | {hives} |")
    many = [each for each in found if each.exact > MANY]
    errors = median(each.error for each in many), median(each.largest_error for each in many)
    print(f"| median above {MANY:,} | | | {errors[0]:.2%} | | {errors[1]:.1%} |")


def lineitem(folder: Path, scale: str) -> pa.Table:
    """The table lineitem at this scale factor, made by tpchgen-cli."""
    program = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or "tpchgen-cli"
    flags = ["--scale-factor", scale, "--tables", "lineitem", "--output-dir", str(folder)]
    subprocess.run([program, "parquet", *flags], check=True, capture_output=True)
    table = pq.read_table(folder / "lineitem.parquet")
    texts = [field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field for field in table.schema]
    return table.cast(pa.schema(texts))


def compare(table: pa.Table, folder: Path) -> list[Union]:
    """The distinct values of every column over all partitions, whose statistics go through a database in the folder."""
    types = {field.name: _hive_type(field.type) for field in table.schema}
    sets = {f"month={name}": _statistics(part, types, f"month={name}") for name, part in _by_month(table)}
    merged = _aggregated(sets, types, folder)
    largest: dict[str, int] = {}
    for each in sets.values():
        for column in each.columns:
            largest[column.column] = max(largest.get(column.column, 0), _ndv(column.data))
    exact = {name: int(pc.count_distinct(table[name]).as_py()) for name in types}
    return [Union(name, exact[name], merged[name], largest[name]) for name in types]


def _by_month(table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    months = pc.strftime(table["l_shipdate"], "%Y-%m")
    ordered = table.append_column("month", months).sort_by("month")
    runs = pc.value_counts(ordered["month"]).to_pylist()
    start = 0
    for run in sorted(runs, key=lambda each: each["values"]):
        yield run["values"], ordered.slice(start, run["counts"])
        start += run["counts"]


def _statistics(table: pa.Table, types: Mapping[str, str], partition: str) -> StatisticsSet:
    kinds = {name: kind for name, each in types.items() if (kind := kind_of(each))}
    accumulator = TableAccumulator.empty(kinds, histogram=False, top_k=False)
    accumulator.update(table)
    return StatisticsSet(accumulator.statistics(types), partition)


def _aggregated(sets: Mapping[str, StatisticsSet], types: Mapping[str, str], folder: Path) -> dict[str, int]:
    url = f"sqlite:///{folder / 'metastore.sqlite'}"
    migrate.upgrade(url)
    store, warehouse = Store.open(url), Warehouse(str(folder))
    Databases(store, warehouse).ensure_default()
    storage = Storage(columns=tuple(Column(name, kind) for name, kind in types.items()))
    keys = (Column("month", "string"),)
    Tables(store, warehouse).create(Table(name=NAME, storage=storage, partition_keys=keys, table_type="EXTERNAL_TABLE"))
    new = [Partition(values=(name.removeprefix("month="),), storage=storage) for name in sets]
    PartitionChanges(store, warehouse).add(NAME, new)
    StatisticsWriter(store).update_partitions(NAME, list(sets.values()))
    found = StatisticsAggregator(store).partitions(NAME, list(sets), list(types), DEFAULT_ENGINE)
    store.close()
    return {each.column: _ndv(each.data) for each in found.columns}


def _hive_type(arrow: pa.DataType) -> str:
    if pa.types.is_decimal(arrow):
        return f"decimal({arrow.precision},{arrow.scale})"
    return {pa.int32(): "int", pa.int64(): "bigint", pa.date32(): "date"}.get(arrow, "string")


def _ndv(data: Any) -> int:
    return int(data.ndv)


if __name__ == "__main__":
    main()

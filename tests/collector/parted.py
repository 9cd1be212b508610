"""A partitioned table of Parquet files that a metastore knows, and what it then says of it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from tests.collector.checks import comparable
from tests.collector.data import TYPES, rows
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.wire.idl import hive_metastore as api

ROWS = 400
NAMES = tuple(f"k={number}" for number in range(4))


def parted(
    port: int,
    folder: Path,
    columns: Sequence[str] = tuple(TYPES),
    *,
    generation: float = 4.0,
    host: str = "127.0.0.1",
    group_rows: int = ROWS,
    database: str | None = None,
) -> TableName:
    """A table t with the partitions NAMES and ROWS rows in each; the last one has two files.

    `group_rows`: how many rows a row group has at most. `database` is made; d_<unique> if it is None.
    """
    found = Metastore("", port, generation, database=database or f"d_{uuid4().hex[:8]}", host=host)
    kinds = {name: TYPES[name] for name in columns}
    with found.clients:
        ask = found.client()
        ask.create_database(api.Database(name=found.database, description="", parameters={}))
        found.table("t", kinds, keys=("k",))
        ask.add_partitions([_placed(found, number, folder, kinds) for number in range(len(NAMES))])
    for name, table in parts().items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        half = ROWS // 2 if name == NAMES[-1] else ROWS
        for first in range(0, ROWS, half):
            some = table.select(columns).slice(first, half)
            pq.write_table(some, place / f"{first}.parquet", row_group_size=group_rows)
    return TableName("hive", found.database, "t")


def parts() -> dict[str, pa.Table]:
    """The rows of each partition."""
    every = rows(len(NAMES) * ROWS)
    return {name: every.slice(number * ROWS, ROWS) for number, name in enumerate(NAMES)}


def stored(port: int, name: TableName, names: Iterable[str] = NAMES, *, host: str = "127.0.0.1") -> dict[str, Any]:
    """All that a metastore says of the partitions, and of the table under "": counts and column statistics."""
    with client.connect(f"thrift://{host}:{port}") as service:
        table = service.find_table(name)
        assert table is not None
        columns = [column.name for column in table.columns]
        sets = {each.partition: each.columns for each in service.partition_statistics(name, columns, names)}
        found: dict[str, Any] = {
            f"k={each.values[0]}": (each.parameters.get("numRows"), _comparable(sets.get(f"k={each.values[0]}", ())))
            for each in service.partitions(name, names)
        }
        return found | {"": (table.parameters.get("numRows"), _comparable(service.table_statistics(name, columns)))}


def _comparable(columns: Iterable[Any]) -> dict[str, Any]:
    return {each.column: comparable(each) for each in columns}


def _placed(metastore: Metastore, number: int, folder: Path, columns: dict[str, str]) -> Any:
    struct = metastore.partition(str(number), columns=columns)
    struct.sd.location = f"file:{folder}/k={number}"
    return struct

"""The table web.visits of the pages in docs/, and what a page shows of commands."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.model.catalog.names import table_name
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"age": "int", "app": "string", "session": "bigint", "country": "string"}
DAYS = [f"2024-01-0{day}" for day in (1, 2, 3, 4)]
ROWS = 1_000
MADE = Provenance(exact=False, rows_seen=ROWS, sample_fraction=1.0, tool="tests 1")
_COMMANDS = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Each command that a page shows, and its output."""
    blocks = (block for block in _COMMANDS.findall(page.read_text()))
    parts = (part.partition("\n") for block in blocks for part in block.split("$ ")[1:])
    return [(command, output) for command, _, output in parts]


@contextmanager
def web_visits(our_metastore: Metastore) -> Iterator[str]:
    """The address of a service with the table of the page: half of a day's sessions go on on the next day."""
    our_metastore.client().create_database(api.Database(name="web", description="", parameters={}))
    filled = replace(our_metastore, database="web")
    table = api.Table(
        tableName="visits",
        dbName="web",
        owner="tester",
        sd=filled.storage(COLUMNS),
        partitionKeys=[api.FieldSchema(name="ds", type="date", comment="")],
        parameters={},
        tableType="MANAGED_TABLE",
    )
    our_metastore.client().create_table(table)
    filled.add_partitions(*((day,) for day in DAYS), table="visits", columns=COLUMNS)
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    with connect(address) as metastore:
        name = table_name("web", "visits")
        metastore.put_partition_statistics(name, (_day(number, day) for number, day in enumerate(DAYS)))
        counts = {"numRows": str(ROWS), "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
        metastore.put_partition_parameters(name, ["ds"], {f"ds={day}": counts for day in DAYS})
    try:
        yield address
    finally:
        our_metastore.client().drop_database("web", True, True)


def _day(number: int, day: str) -> StatisticsSet:
    values: Mapping[str, Any] = {
        "age": 18 + np.arange(ROWS) % 60,
        "app": ["mail"] * 600 + ["maps"] * 300 + ["chat"] * 100,
        "session": number * 500 + np.arange(ROWS),
    }
    columns = (_collected(column, each) for column, each in values.items())
    return StatisticsSet(tuple(columns), f"ds={day}")


def _collected(column: str, values: Any) -> ColumnStatistics:
    kind = kind_of(COLUMNS[column])
    assert kind is not None
    accumulator = ColumnAccumulator.empty(kind)
    accumulator.update(pa.array(values))
    top = None if accumulator.top_k is None else accumulator.top_k.to_bytes()
    return ColumnStatistics(column, COLUMNS[column], accumulator.statistics(), top, MADE)

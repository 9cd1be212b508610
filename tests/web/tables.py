"""Tables for the page to show: one of rows that were counted, one by day, and one whose names are markup."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
from starlette.testclient import TestClient
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.web.application import application
from hmstats.web.metastores import Metastores

ROWS = 1_000
COLUMNS = {"age": "int", "app": "string", "big": "bigint", "price": "decimal(10,2)", "paid": "boolean", "empty": "int"}
MADE = Provenance(exact=False, rows_seen=ROWS, sample_fraction=1.0, tool="tests 1")
BIG = 2**60
MARKUP = "<b onclick=alert(1)>x</b>"
SCRIPT = "<script>alert(1)</script>"
DAYS = [(date(2024, 1, 29) + timedelta(days=passed)).isoformat() for passed in range(10) if passed != 3]
"""Ten days with a hole, in two months."""


def collected(column: str, kind: str, values: Any, made: Provenance = MADE) -> ColumnStatistics:
    """A column's statistics with its sketches."""
    known = kind_of(kind)
    assert known is not None
    accumulator = ColumnAccumulator.empty(known)
    accumulator.update(values if isinstance(values, pa.Array) else pa.array(values))
    top = accumulator.top_k
    return ColumnStatistics(column, kind, accumulator.statistics(), None if top is None else top.to_bytes(), made)


def visits(made: Provenance = MADE) -> StatisticsSet:
    """Of 1,000 rows: ages from 0 to 79 with 100 nulls, three apps, whole numbers beyond 2^53, prices, a flag."""
    ages = pa.array([None if row % 10 == 0 else row % 80 for row in range(ROWS)], pa.int32())
    prices = pa.array([f"{row}.50" for row in range(ROWS)]).cast(pa.decimal128(10, 2))
    return StatisticsSet(
        (
            collected("age", "int", ages, made),
            collected("app", "string", ["mail"] * 600 + ["maps"] * 300 + [MARKUP] * 100, made),
            collected("big", "bigint", np.arange(ROWS) + BIG, made),
            collected("price", "decimal(10,2)", prices, made),
            collected("paid", "boolean", [row % 4 == 0 for row in range(ROWS)], made),
        )
    )


def fill(metastore: Metastore, service: client.Metastore) -> None:
    """Make the tables in the metastore's own database."""
    counted = {"numRows": str(ROWS), "totalSize": str(5 * 1024 * 1024), "numFiles": "3"}
    accurate = '{"BASIC_STATS":"true","COLUMN_STATS":{"age":"true","app":"true","big":"true"}}'
    metastore.table("visits", COLUMNS, parameters=counted)
    name = TableName("hive", metastore.database, "visits")
    service.put_table_statistics(name, visits())
    service.put_table_parameters(name, {"COLUMN_STATS_ACCURATE": accurate})
    metastore.table("by_day", COLUMNS, keys=("ds",))
    metastore.add_partitions(*([day] for day in DAYS), table="by_day", columns=COLUMNS)
    by_day = TableName("hive", metastore.database, "by_day")
    service.put_partition_statistics(by_day, [replace(visits(), partition=f"ds={day}") for day in DAYS])
    rows = {f"ds={day}": {"numRows": str(100 * place), "totalSize": "2048"} for place, day in enumerate(DAYS, 1)}
    service.put_partition_parameters(by_day, ["ds"], rows)
    metastore.table("marked", {"a": "int", "b": f"struct<`{SCRIPT}`:int>"}, keys=("k",))
    metastore.add_partitions([MARKUP], table="marked", columns={"a": "int"})
    metastore.table("bare", {"a": "int"})


def page_of(port: int, *, writes: bool = False) -> TestClient:
    """The page over the metastore at a port, in this process."""
    metastores = Metastores(lambda _: client.connect(f"thrift://127.0.0.1:{port}", retries=0))
    return TestClient(application(metastores, ["testserver"], writes=writes), base_url="http://localhost")


@contextmanager
def shown_tables(metastore: Metastore, *, writes: bool = False) -> Iterator[TestClient]:
    """The page over a metastore with the tables."""
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        fill(metastore, service)
    with page_of(metastore.port, writes=writes) as page:
        yield page

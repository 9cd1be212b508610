"""docs/collect/check.md shows what happens: its command is run on a table whose statistics were tampered with."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.docs.pages import commands
from typer.testing import CliRunner

from hmstats import client, collector
from hmstats.cli.main import app
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet

PAGE = Path(__file__).parents[2] / "docs" / "collect" / "check.md"
PARTITION = "day=2024-01-02"
WRONG: dict[str, dict[str, Any]] = {"price": {"nulls": 0, "ndv": 40}, "ordered": {"high": 19_723}}


@pytest.fixture
def orders(spark: Any, tmp_path: Path) -> Iterator[None]:
    """Two days of 1,000 orders, analysed."""
    spark.sql(f"CREATE DATABASE shop LOCATION '{tmp_path.as_uri()}'")
    columns = "price DECIMAL(8,2), ordered DATE, note STRING"
    spark.sql(f"CREATE TABLE shop.orders ({columns}) PARTITIONED BY (day DATE) STORED AS PARQUET")
    for number, day in enumerate(("2024-01-01", "2024-01-02")):
        folder = tmp_path / "orders" / f"day={day}"
        folder.mkdir(parents=True)
        rows = {
            "price": pa.array([None if each % 10 == 0 else each for each in range(1_000)], pa.int64()),
            "ordered": pa.array([19_723 + number] * 1_000, pa.int32()).cast(pa.date32()),
            "note": pa.array([f"note {each % 7}" for each in range(1_000)]),
        }
        table = pa.table({**rows, "price": rows["price"].cast(pa.decimal128(19, 0)).cast(pa.decimal128(8, 2))})
        pq.write_table(table, folder / "part-0", row_group_size=100)
        spark.sql(f"ALTER TABLE shop.orders ADD PARTITION (day='{day}')")
    collector.analyze(spark, "shop.orders")
    yield
    spark.sql("DROP DATABASE shop CASCADE")


def wrong(column: ColumnStatistics) -> ColumnStatistics:
    data: Any = column.data
    return replace(column, data=replace(data, **WRONG.get(column.column, {})))


@pytest.mark.spark
@pytest.mark.usefixtures("orders")
def test_the_page_says_what_happens(spark: Any, spark_metastore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = TableName("hive", "shop", "orders")
    with client.connect(spark_metastore) as service:
        (found,) = service.statistics(name, None, [PARTITION])
        changed = StatisticsSet(tuple(map(wrong, found.columns)), PARTITION)
        service.put_partition_statistics(name, [changed])
        service.put_partition_parameters(name, ["day"], {PARTITION: {"numRows": "1200"}})
    monkeypatch.setenv("HMSTATS__METASTORE", spark_metastore)
    ((command, output),) = commands(PAGE)
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 1, result.output
    assert result.stdout == output

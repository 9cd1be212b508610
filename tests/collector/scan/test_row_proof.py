"""The number of rows that Python took in is held against what Spark has counted, before anything is stored."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

import pyarrow as pa
import pytest

from hmstats import collector
from hmstats.client import connect
from hmstats.collector.scan import dataframe
from hmstats.collector.scan.row_proof import check_rows, rows_passed_on
from hmstats.collector.scan.states import States
from hmstats.errors import AnalysisIncomplete
from hmstats.model.catalog.names import table_name

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = 100
_numbers = count(1)


@pytest.fixture(scope="module")
def database(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("proof")
    spark.sql(f"CREATE DATABASE proof LOCATION '{place.as_uri()}'")
    for number in range(1, 100):
        (place / f"t{number}").mkdir()  # nobody else makes a table's folder outside of the server's warehouse
    return "proof"


@pytest.fixture
def table(spark: Any, database: str) -> str:
    """A table of a format that Spark reads."""
    name = f"{database}.t{next(_numbers)}"
    spark.sql(f"CREATE TABLE {name} (n BIGINT) PARTITIONED BY (k INT) STORED AS AVRO")
    spark.sql(f"INSERT INTO {name} PARTITION (k = 1) SELECT id FROM range({ROWS})")
    spark.sql(f"INSERT INTO {name} PARTITION (k = 2) SELECT id FROM range({ROWS})")
    return name


FRAMES: dict[str, Callable[[Any], Any]] = {
    "a scan": lambda rows: rows,
    "a partition of it": lambda rows: rows.where("k = 2"),
    "a filter": lambda rows: rows.where("n % 3 = 0"),
    "fewer tasks": lambda rows: rows.coalesce(1),
    "a union": lambda rows: rows.union(rows),
    "a join": lambda rows: rows.join(rows.withColumnRenamed("k", "other"), "n"),
    "an aggregate": lambda rows: rows.groupBy("n").count(),
    "nothing": lambda rows: rows.where("false"),
    "generated rows": lambda rows: rows.sparkSession.range(ROWS),
    "local rows": lambda rows: rows.sparkSession.createDataFrame([(1,), (2,)], "n INT"),
}


@pytest.mark.parametrize("made", FRAMES.values(), ids=FRAMES)
def test_sparks_metrics_count_the_rows_that_came(spark: Any, table: str, made: Callable[[Any], Any]) -> None:
    source = made(spark.table(table))
    run = dataframe.states_frame(source, (), {})
    states = States({})
    states.merge(dataframe.records(run).collect())
    assert states.total().rows == source.count()
    assert rows_passed_on(run) in (source.count(), None)
    check_rows(table, source.count(), source, run)
    with pytest.raises(AnalysisIncomplete, match=f"{table} has {source.count()} rows as Spark counts them, but 7 were"):
        check_rows(table, 7, source, run)


def test_a_scan_of_a_table_has_a_metric(spark: Any, table: str) -> None:
    run = dataframe.states_frame(spark.table(table), ["k"], {"n": "bigint"})
    dataframe.records(run).collect()
    assert rows_passed_on(run) == 2 * ROWS


def test_a_limit_that_no_operator_counts_is_counted_by_a_job(spark: Any, table: str) -> None:
    source = spark.table(table).limit(30)
    run = dataframe.states_frame(source, (), {})
    dataframe.records(run).collect()
    check_rows(table, 30, source, run)


@pytest.mark.parametrize("spec", ["", " PARTITION (k = 1)"])
def test_rows_that_are_lost_on_the_way_store_nothing(
    spark: Any, spark_metastore: str, table: str, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    before, real = stored_parameters(spark_metastore, table), dataframe.states_frame

    def losing(rows: Any, keys: Any, types: Any, options: Any) -> Any:
        def some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield batch.slice(1)

        return real(rows.mapInArrow(some, rows.schema), keys, types, options)

    monkeypatch.setattr(dataframe, "states_frame", losing)
    monkeypatch.setattr("hmstats.collector.scan.row_proof.rows_passed_on", lambda run: None)
    with pytest.raises(AnalysisIncomplete, match=r"rows as Spark counts them, but .* were analysed: nothing of it is"):
        collector.analyze(spark, f"ANALYZE TABLE {table}{spec} COMPUTE STATISTICS FOR COLUMNS")
    assert stored_parameters(spark_metastore, table) == before


def stored_parameters(metastore: str, table: str) -> list[Mapping[str, str]]:
    """The parameters of the table and of its partitions."""
    with connect(metastore) as service:
        name = table_name(*table.split("."))
        whole = service.find_table(name)
        assert whole is not None
        return [whole.parameters, *(each.parameters for each in service.partitions(name, ["k=1", "k=2"]))]


def test_the_rows_are_read_once(spark: Any, table: str) -> None:
    """The count of partitions' rows runs a job before they are delivered: the second one finds their states."""
    read = spark.sparkContext.accumulator(0)

    def counting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    real, frames = dataframe.states_frame, []

    def counted(rows: Any, *given: Any) -> Any:
        frames.append(rows)
        return real(rows.mapInArrow(counting, rows.schema), *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataframe, "states_frame", counted)
        report = collector.analyze(spark, f"ANALYZE TABLE {table} PARTITION (k) COMPUTE STATISTICS FOR COLUMNS")
    assert (report.rows, len(frames), read.value) == (2 * ROWS, 1, 2 * ROWS)


def test_an_unpartitioned_table_without_columns_has_its_rows(spark: Any, spark_metastore: str, database: str) -> None:
    name = f"{database}.t{next(_numbers)}"
    spark.sql(f"CREATE TABLE {name} (a ARRAY<INT>, b MAP<INT, INT>) STORED AS ORC")
    spark.sql(f"INSERT INTO {name} SELECT array(1), map(1, 2) FROM range({ROWS})")
    for text in (name, f"ANALYZE TABLE {name} COMPUTE STATISTICS", f"ANALYZE TABLE {name} COMPUTE STATISTICS NOSCAN"):
        collector.analyze(spark, text)
        with connect(spark_metastore) as service:
            found = service.find_table(table_name(*name.split(".")))
        assert found is not None
        assert found.parameters["numRows"] == str(ROWS)

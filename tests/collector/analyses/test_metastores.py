"""The same requests on every metastore, ours and real ones: which partitions, and what their parameters say then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fixtures.metastores import Metastore

from hmstats import client, collector
from hmstats.model.catalog.objects import TableName

pytestmark = pytest.mark.spark

VALUES = [("2008-04-08", "11"), ("2008-04-08", "12"), ("2008-04-09", "11"), ("2008-04-09", "12")]
COLUMNS = {"n": "bigint"}


@pytest.fixture
def analyze(spark: Any, metastore: Metastore, tmp_path: Path) -> Callable[..., collector.Report]:
    """Analyses table t of four partitions, whose data nobody has looked at."""
    metastore.table("t", COLUMNS, keys=("ds", "hr"))
    partitions = []
    for number, values in enumerate(VALUES):
        partition = metastore.partition(*values, columns=COLUMNS)
        partition.sd.location = f"file:{tmp_path}/{number}"
        write(tmp_path, number, 0)
        partitions.append(partition)
    assert metastore.client().add_partitions(partitions) == len(VALUES)
    uris = f"thrift://127.0.0.1:{metastore.port}"
    return lambda text, **options: collector.analyze(
        spark, text.format(table=f"{metastore.database}.t"), metastore=uris, **options
    )


def write(folder: Path, partition: int, file: int) -> None:
    (folder / str(partition)).mkdir(exist_ok=True)
    pq.write_table(pa.table({"n": range(100)}), folder / str(partition) / f"part-{file}")


def rows(metastore: Metastore) -> dict[tuple[str, ...], str]:
    """The stored number of rows of each partition that was analysed."""
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        name = TableName("hive", metastore.database, "t")
        found = list(service.partitions(name, service.partition_names(name)))
    return {each.values: each.parameters["numRows"] for each in found if int(each.parameters.get("numRows", "-1")) >= 0}


def test_the_named_partitions_are_analysed(metastore: Metastore, analyze: Callable[..., collector.Report]) -> None:
    statement = "ANALYZE TABLE {table} PARTITION(ds='2008-04-09', hr) COMPUTE STATISTICS FOR COLUMNS"
    report = analyze(statement)
    assert (report.partitions, report.rows, report.whole) == (2, 200, None)
    assert rows(metastore) == dict.fromkeys(VALUES[2:], "100")


def test_only_what_changed_is_analysed_again(
    metastore: Metastore, analyze: Callable[..., collector.Report], tmp_path: Path
) -> None:
    assert analyze("{table}").rows == 400
    unchanged = analyze("{table}", changed_only=True)
    assert (unchanged.partitions, unchanged.unchanged) == (0, 4)
    write(tmp_path, 2, 1)
    report = analyze("{table}", changed_only=True)
    assert (report.partitions, report.unchanged, report.rows) == (1, 3, 200)
    assert rows(metastore) == {**dict.fromkeys(VALUES, "100"), VALUES[2]: "200"}
    parameters = metastore.parameters()
    assert [parameters[name] for name in ("numRows", "numFiles", "numPartitions")] == ["500", "5", "4"]


@pytest.mark.slow
def test_statistics_that_hmstats_has_deleted_are_made_again(
    metastore: Metastore, analyze: Callable[..., collector.Report]
) -> None:
    analyze("{table}")
    name, deleted = TableName("hive", metastore.database, "t"), ["ds=2008-04-08/hr=11", "ds=2008-04-09/hr=12"]
    with client.connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        service.delete_statistics(name, None, deleted)
        report = analyze("{table}", changed_only=True)
        assert (report.partitions, report.unchanged) == (2, 2)
        assert len(list(service.partition_statistics(name, ["n"], deleted))) == len(deleted)


@pytest.mark.slow
def test_noscan_removes_what_may_be_untrue(
    metastore: Metastore, analyze: Callable[..., collector.Report], tmp_path: Path
) -> None:
    analyze("{table}")
    write(tmp_path, 2, 1)
    analyze("{table}", noscan=True)
    assert rows(metastore) == dict.fromkeys((VALUES[0], VALUES[1], VALUES[3]), "100")
    parameters = metastore.parameters()
    assert ("numRows" in parameters, parameters["numFiles"]) == (False, "5")
    analyze("{table}", noscan=True, row_counts=True)
    assert rows(metastore) == {**dict.fromkeys(VALUES, "100"), VALUES[2]: "200"}

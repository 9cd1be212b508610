"""Tables of Iceberg: live rows by field id, and the statistics of the snapshot that was read."""

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType, TimestamptzType, TimeType, UUIDType
from tests.collector.lake.iceberg.equality_deletes import delete_where_equal
from tests.collector.lake.iceberg.iceberg_tables import ROWS, committed, metadata_of
from tests.collector.lake.test_delta import analyzed, stored, table_of
from tests.fixtures.metastores import Metastore

from hmstats import client
from hmstats.collector.dry_run import dry_run
from hmstats.collector.request.statement import statement
from hmstats.errors import StatementError, UnreadableFile


def test_live_rows_by_field_id_with_the_snapshot_in_the_provenance(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)
    table.delete("Id < 10")
    with table.update_schema() as update:
        update.rename_column("name", "label")
        update.delete_column("price")
        update.add_column("price", LongType())
    report = analyzed(service, name)
    assert (report.rows, report.columns) == (1980, ("id", "label", "price"))
    found = stored(service, name, ["id", "label", "price"])
    assert (found["id"].data.low, found["id"].data.high) == (10, 999)  # type: ignore[union-attr]
    assert (found["label"].data.ndv, found["label"].data.nulls) == (45, 198)  # type: ignore[union-attr]
    assert found["price"].data.nulls == 1980
    (made,) = service.provenance(statement(name).table, ["id"])
    snapshot = catalog.load_table(name).current_snapshot()
    assert made.provenance is not None
    assert snapshot is not None
    assert (made.provenance.tool or "").endswith(f", Iceberg snapshot {snapshot.snapshot_id}")


def test_rows_from_before_a_column_have_its_default(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    with table.update_schema() as update:
        update.add_column("grade", LongType())
        update.add_column("later", LongType())
    metadata = metadata_of(service, name)
    (schema,) = (each for each in metadata["schemas"] if each["schema-id"] == metadata["current-schema-id"])
    schema["fields"][-2] |= {"initial-default": 7, "write-default": 7}
    committed(service, name, {**metadata, "format-version": 3, "next-row-id": 1000})
    analyzed(service, name)
    found = stored(service, name, ["grade", "later"])
    grade: Any = found["grade"].data
    assert (grade.low, grade.high, grade.nulls, grade.ndv) == (7, 7, 0, 1)
    assert found["later"].data.nulls == 1000


def replaced_file(table: Any, rows: pa.Table, **how: Any) -> None:
    """Write other rows into the only file of a table, by the field ids of its columns."""
    (task,) = table.scan().plan_files()
    fields = [each.with_metadata({"PARQUET:field_id": str(number)}) for number, each in enumerate(rows.schema, start=1)]
    pq.write_table(rows.cast(pa.schema(fields)), task.file.file_path.removeprefix("file:"), **how)


def test_timestamps_of_files_that_hive_and_spark_wrote(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    """They are of the type INT96, and many tables have days far off for never and for always."""
    name = f"{our_metastore.database}.t"
    days = [date(1, 1, 2), date(2020, 1, 1), date(9999, 12, 31)]
    rows = pa.table({"at": pa.array(days).cast(pa.timestamp("us"))})
    table = catalog.create_table(name, schema=rows.schema)
    table.append(rows)
    replaced_file(table, rows, use_deprecated_int96_timestamps=True)
    analyzed(service, name)
    found: Any = stored(service, name, ["at"])["at"].data
    seconds = pa.array(days).cast(pa.timestamp("s")).cast(pa.int64()).to_pylist()
    assert (found.low, found.high) == (seconds[0], seconds[-1])


@pytest.mark.parametrize("values", [pa.array(["a"]), pa.array([1], pa.date32())])
def test_files_of_other_types_are_refused_in_a_sentence(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog, values: pa.Array
) -> None:
    name = f"{our_metastore.database}.t"
    rows = pa.table({"at": pa.array([1], pa.timestamp("us"))})
    table = catalog.create_table(name, schema=rows.schema)
    table.append(rows)
    replaced_file(table, pa.table({"at": values}))
    with pytest.raises(UnreadableFile, match=rf"table {name} cannot be read as Iceberg: "):
        analyzed(service, name)


def test_only_a_new_snapshot_is_read_again_and_no_commit_is_undone(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    assert analyzed(service, name, changed_only=True).rows == 0
    table.append(ROWS)
    assert analyzed(service, name, changed_only=True).rows == 1000
    metadata = table_of(service, name).parameters["metadata_location"]
    assert analyzed(service, name, changed_only=True).unchanged == 1
    assert table_of(service, name).parameters["metadata_location"] == metadata
    table.refresh()
    table.append(ROWS)
    assert analyzed(service, name, changed_only=True).rows == 2000
    assert catalog.load_table(name).scan().to_arrow().num_rows == 2000


def test_noscan_counts_live_files_and_not_those_of_the_folder(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    table.overwrite(ROWS.slice(0, 10))
    (task,) = table.scan().plan_files()
    folder = Path(task.file.file_path.removeprefix("file:")).parent
    assert len(list(folder.glob("*.parquet"))) == 2
    analyzed(service, name, noscan=True)
    found = table_of(service, name).parameters
    sizes = ("1", str(task.file.file_size_in_bytes), "10")
    assert tuple(found[key] for key in ("numFiles", "totalSize", "numRows")) == sizes


def test_types_that_no_engine_compares_as_texts_are_left_out(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    types = (IntegerType(), TimeType(), UUIDType(), TimestamptzType(), StringType())
    fields = [NestedField(place + 1, f"c{place}", type_) for place, type_ in enumerate(types)]
    catalog.create_table(name, schema=Schema(*fields))
    found = dry_run(service, statement(name))
    assert (set(found.skipped), found.files) == ({"c1", "c2"}, 0)


def test_tables_that_cannot_be_read_are_refused(
    our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog
) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    with pytest.raises(StatementError, match="is of the format Iceberg, which has no partitions in the metastore"):
        dry_run(service, statement(name, partitions={"p": 1}))
    (task,) = table.scan().plan_files()
    Path(task.file.file_path.removeprefix("file:")).unlink()
    with pytest.raises(UnreadableFile, match="cannot be read as Iceberg"):
        analyzed(service, name)
    Path(table_of(service, name).parameters["metadata_location"].removeprefix("file:")).unlink()
    with pytest.raises(StatementError, match="cannot be read at file:"):
        analyzed(service, name)


def test_equality_deletes_need_spark(our_metastore: Metastore, service: client.Metastore, catalog: HiveCatalog) -> None:
    name = f"{our_metastore.database}.t"
    table = catalog.create_table(name, schema=ROWS.schema)
    table.append(ROWS)
    delete_where_equal(service, name, table, "Id", pa.array([1, 2, 3], pa.int64()))
    with pytest.raises(StatementError, match=r"cannot be read by PyIceberg: .*equality deletes.*; Spark with"):
        analyzed(service, name)
    assert "numRows" not in table_of(service, name).parameters
    plan = dry_run(service, statement(name))
    assert (plan.files, plan.columns) == (1, ("id", "name", "price"))

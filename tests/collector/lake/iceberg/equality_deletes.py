"""Equality deletes as Flink writes them: PyIceberg neither writes nor reads them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import load_file_io
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, ListType, NestedField, StructType
from tests.collector.lake.iceberg.iceberg_tables import committed, metadata_of

from hmstats import client


class _DeleteManifest(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    def _with_partition(self, format_version: Any) -> Schema:
        """The schema of the entries, with the field ids as ints: PyIceberg has longs, which Java does not read."""
        status, *others, data = super()._with_partition(format_version).fields
        of_file: Any = data.field_type
        fields = [_with_ints(each) if each.name == "equality_ids" else each for each in of_file.fields]
        whole = NestedField(data.field_id, data.name, StructType(*fields), required=data.required)
        return Schema(status, *others, whole)

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def _with_ints(field: NestedField) -> NestedField:
    ids = ListType(element_id=136, element_type=IntegerType(), element_required=True)
    return NestedField(field.field_id, field.name, ids, required=field.required)


def delete_where_equal(service: client.Metastore, name: str, table: Any, column: str, values: pa.Array) -> None:
    """Commit a snapshot with an equality delete of these values of an unpartitioned table's column."""
    field = table.schema().find_field(column)
    folder = f"{table.location()}/metadata"
    schema = pa.schema([pa.field(column, values.type, metadata={"PARQUET:field_id": str(field.field_id)})])
    path = Path(f"{folder.removeprefix('file:')}/deletes.parquet")
    pq.write_table(pa.table([values], schema=schema), path)
    metadata = dict(metadata_of(service, name))
    before = table.current_snapshot()
    snapshot_id, number = before.snapshot_id + 1, before.sequence_number + 1
    io = load_file_io(location=folder)
    deletes = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=f"file:{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=len(values),
        file_size_in_bytes=path.stat().st_size,
        equality_ids=[field.field_id],
    )
    deletes.spec_id = 0
    writer = _DeleteManifest(table.spec(), table.schema(), io.new_output(f"{folder}/deletes.avro"), snapshot_id, "null")
    with writer:
        writer.add_entry(
            ManifestEntry.from_args(
                status=ManifestEntryStatus.ADDED, snapshot_id=snapshot_id, sequence_number=None, data_file=deletes
            )
        )
    listed = f"{folder}/snap-deletes.avro"
    with write_manifest_list(2, io.new_output(listed), snapshot_id, before.snapshot_id, number, "null") as manifests:
        manifests.add_manifests([*before.manifests(io), writer.to_manifest_file()])
    after = {
        "snapshot-id": snapshot_id,
        "parent-snapshot-id": before.snapshot_id,
        "sequence-number": number,
        "timestamp-ms": metadata["last-updated-ms"] + 1,
        "manifest-list": listed,
        "summary": {"operation": "delete", "total-equality-deletes": str(len(values))},
        "schema-id": 0,
    }
    committed(
        service,
        name,
        {
            **metadata,
            "snapshots": [*metadata["snapshots"], after],
            "current-snapshot-id": snapshot_id,
            "last-sequence-number": number,
            "refs": {"main": {"snapshot-id": snapshot_id, "type": "branch"}},
        },
    )

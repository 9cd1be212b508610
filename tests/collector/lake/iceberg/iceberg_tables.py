"""Rows of Iceberg's tables, and what is registered for their snapshots."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg.io import load_file_io
from tests.collector.lake.test_delta import table_of

from hmstats import client
from hmstats.collector.lake.iceberg import table_files
from hmstats.collector.lake.iceberg.table_metadata import encode, entries, next_location
from hmstats.collector.request.statement import statement
from hmstats.outlets.puffin.blob import Blob
from hmstats.outlets.puffin.file import PuffinFile, read, write
from hmstats.outlets.puffin.snapshot import statistics_entry

ROWS = pa.table(
    {
        "Id": pa.array(range(1000), pa.int64()),
        "name": pa.array([f"n{each % 50}" if each % 10 else None for each in range(1000)]),
        "price": pa.array([Decimal(each) / 100 for each in range(1000)], pa.decimal128(9, 2)),
    }
)


def location_of(service: client.Metastore, name: str) -> str:
    """Where the table's metadata file is."""
    return table_of(service, name).parameters["metadata_location"]


def metadata_of(service: client.Metastore, name: str) -> Mapping[str, Any]:
    """The table's metadata."""
    location = location_of(service, name)
    return table_files.read_metadata(load_file_io(location=location), location)


def entry_of(service: client.Metastore, name: str, snapshot_id: int | None = None) -> Mapping[str, Any]:
    """The statistics entry of a snapshot, of the current one by default."""
    metadata = metadata_of(service, name)
    return entries(metadata)[snapshot_id or metadata["current-snapshot-id"]]


def puffin_of(entry: Mapping[str, Any]) -> PuffinFile:
    """The Puffin file of an entry."""
    path = entry["statistics-path"]
    data = table_files.read_bytes(load_file_io(location=path), path)
    assert len(data) == entry["file-size-in-bytes"]
    return read(data)


def counts_of(entry: Mapping[str, Any]) -> dict[int, int]:
    """Distinct count by field id, as readers take it from an entry: each field once."""
    pairs = [(each["fields"][0], int(each["properties"]["ndv"])) for each in entry["blob-metadata"]]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def committed(service: client.Metastore, name: str, metadata: Mapping[str, Any]) -> None:
    """Make this the table's metadata."""
    before = location_of(service, name)
    after = next_location(metadata, before)
    table_files.write_metadata(load_file_io(location=after), after, encode(metadata))
    assert service.iceberg.replace(statement(name).table, before, after)


def registered_by_another(service: client.Metastore, name: str, *blobs: Blob) -> None:
    """Register a file with these blobs for the current snapshot, as another engine does."""
    metadata = metadata_of(service, name)
    path = f"{metadata['location']}/metadata/theirs.stats"
    written = write(PuffinFile(blobs, {"created-by": "another engine"}))
    Path(path.removeprefix("file:")).write_bytes(written.data)
    entry = statistics_entry(written, blobs, path, metadata["current-snapshot-id"])
    committed(service, name, {**metadata, "statistics": [json.loads(json.dumps(entry))]})

"""Delta tables as engines register them: Spark's columns in the metastore are a stub, its schema is empty."""

import json
import struct
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from deltalake import write_deltalake
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

ROWS = pa.table(
    {
        "Id": pa.array(range(1000), pa.int64()),
        "name": pa.array([f"n{each % 50}" if each % 10 else None for each in range(1000)]),
        "p": pa.array([each % 3 for each in range(1000)], pa.int32()),
        "day": pa.array([date(2020, 1, 1 + each % 20) for each in range(1000)]),
        "at": pa.array([datetime(2020, 1, 1, 0, 0, each % 60, tzinfo=UTC) for each in range(1000)]),
        "price": pa.array([Decimal(each) / 100 for each in range(1000)], pa.decimal128(9, 2)),
        "flag": pa.array([True, None] * 500),
        "raw": pa.array([b"x" * (each % 4) for each in range(1000)]),
        "tags": pa.array([[1]] * 1000),
    }
)
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
STUB = {"col": "array<string>"}


def registered(metastore: Metastore, place: Path | str, name: str = "t") -> str:
    """Register a table of Delta Lake in a folder or at a location; returns its name with its database."""
    parameters = {
        "spark.sql.sources.provider": "delta",
        "spark.sql.sources.schema": '{"type":"struct","fields":[]}',
        "EXTERNAL": "TRUE",
    }
    storage = metastore.storage(STUB)
    storage.location = place if isinstance(place, str) else f"file:{place}"
    table = api.Table(name, metastore.database, "tester", sd=storage, partitionKeys=[], parameters=parameters)
    table.tableType = "EXTERNAL_TABLE"
    metastore.client().create_table(table)
    return f"{metastore.database}.{name}"


def written(folder: Path) -> Path:
    """A table in two commits of the same rows, partitioned by a column, without the rows below 10."""
    from deltalake import DeltaTable

    write_deltalake(folder, ROWS, partition_by=["p"])
    write_deltalake(folder, ROWS, mode="append")
    DeltaTable(folder).delete("Id < 10")
    return folder


def delete_by_vector(folder: Path, rows: Sequence[int]) -> None:
    """Delete rows of the first file of a table's first commit by a deletion vector, as Spark would; delta-rs cannot."""
    from deltalake import DeltaTable

    log = folder / "_delta_log"
    entries = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    add = next(each["add"] for each in entries if "add" in each)
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    commit = [
        {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}},
        {"remove": {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}},
        {"add": {**add, "deletionVector": _vector(rows)}},
    ]
    version = DeltaTable(folder).version() + 1
    (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, commit)))


def _vector(rows: Sequence[int]) -> dict[str, object]:
    """A deletion vector in the log: one roaring bitmap of one array container, in the letters of Z85."""
    places = struct.pack(f"<{len(rows)}H", *rows)
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + places
    found = struct.pack("<iqI", 1681511377, 1, 0) + bitmap
    return {"storageType": "i", "pathOrInlineDv": _as_z85(found), "sizeInBytes": len(found), "cardinality": len(rows)}


def _as_z85(found: bytes) -> str:
    padded = found + b"\0" * (-len(found) % 4)
    words = (int.from_bytes(padded[place : place + 4], "big") for place in range(0, len(padded), 4))
    return "".join(_Z85[word // 85**power % 85] for word in words for power in range(4, -1, -1))

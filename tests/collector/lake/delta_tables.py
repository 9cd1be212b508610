"""Delta tables as engines register them: Spark's columns in the metastore are a stub, its schema is empty."""

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

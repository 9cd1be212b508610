"""Analyses a table of many small partitions, and says what the driver needed for it.

python -m tests.collector.analyses.many_partitions PARTITIONS FOLDER prints one JSON object. The driver's JVM has 2 GB.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from tests.benchmarks.harness.processes import memory_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats import client
from hmstats.client.connection.batches import batches
from hmstats.client.naming import named_table
from hmstats.collector.analysis import analyze
from hmstats.collector.spark.session import local_session
from hmstats.wire.idl import hive_metastore as api

COLUMNS = {"id": "bigint", "name": "string", "price": "double", "day": "date"}
ROWS_EACH = 10
_ADDED_AT_ONCE = 1000


def table(port: int, folder: Path, partitions: int) -> str:
    """A table with so many partitions of one file each; its name."""
    found = Metastore("", port, 4.0, database=f"d_{uuid4().hex[:8]}")
    with found.clients:
        ask = found.client()
        ask.create_database(api.Database(name=found.database, description="", parameters={}))
        found.table("t", COLUMNS, keys=("k",))
        for batch in batches(range(partitions), _ADDED_AT_ONCE):
            structs = [found.partition(f"{number:05d}", columns=COLUMNS) for number in batch]
            for number, struct in zip(batch, structs, strict=True):
                struct.sd.location = f"file:{folder}/k={number:05d}"
                write(Path(folder) / f"k={number:05d}", number)
            ask.add_partitions(structs)
    return f"{found.database}.t"


def write(place: Path, number: int) -> None:
    """A partition's file."""
    ids = pa.array(range(number * ROWS_EACH, (number + 1) * ROWS_EACH), pa.int64())
    names = pa.array([f"name {each}" for each in range(ROWS_EACH)])
    days = pa.array([number] * ROWS_EACH, pa.int32()).cast(pa.date32())
    place.mkdir(parents=True)
    pq.write_table(
        pa.table({"id": ids, "name": names, "price": ids.cast(pa.float64()), "day": days}), place / "x.parquet"
    )


def measure(partitions: int, folder: Path) -> dict[str, Any]:
    """How long it took, and the most memory that Python and the JVM of the driver had."""
    with serving(folder) as port:
        name = table(port, folder / "data", partitions)
        spark = local_session(f"thrift://127.0.0.1:{port}", master="local[2]", conf={"spark.driver.memory": "2g"})
        before = memory_of(os.getpid()).peak
        begin = time.perf_counter()
        report = analyze(spark, name)
        seconds = time.perf_counter() - begin
        jvm: Any = spark._jvm
        jvm_megabytes = memory_of(jvm.java.lang.ProcessHandle.current().pid()).peak
        spark.stop()
        distinct = read_back(port, name)
    return {
        "partitions": report.partitions,
        "rows": report.rows,
        "distinct": distinct,
        "seconds": round(seconds, 1),
        "steps": {step: round(each, 1) for step, each in report.seconds.items()},
        "python_megabytes": round(memory_of(os.getpid()).peak),
        "python_megabytes_before": round(before),
        "jvm_megabytes": round(jvm_megabytes),
    }


def read_back(port: int, name: str) -> dict[str, int]:
    """How many partitions the metastore has statistics of, and how many ids over all of them."""
    with client.connect(f"thrift://127.0.0.1:{port}") as service:
        found = named_table(name)
        sets = service.partition_statistics(found, ["id"], service.partition_names(found))
        stored = sum(getattr(each.columns[0].data, "ndv", None) == ROWS_EACH for each in sets)
        return {"stored": stored, "ids": service.distinct_count(found, "id").count}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), Path(sys.argv[2]))))

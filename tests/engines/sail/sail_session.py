"""Statements in Sail, an engine in Rust that speaks Spark Connect, on a metastore; a line of JSON for each.

    python sail_session.py thrift://HOST:PORT WAREHOUSE STATEMENTS > out.jsonl

A line: {"sql", "error": the first line of the error's message, or null, "rows"}. In STATEMENTS {w} is the warehouse.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def serving(metastore: str) -> Any:
    """A Sail in this process, for as long as it is referred to, whose catalog is the metastore."""
    os.environ["SAIL_CATALOG__LIST"] = f'[{{type="hms", name="lake", uris=["{metastore}"]}}]'
    os.environ["SAIL_CATALOG__DEFAULT_CATALOG"] = "lake"
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer()
    server.start()
    return server


def answer(spark: SparkSession, sql: str) -> dict[str, Any]:
    """What one statement answers."""
    try:
        rows = [list(row.asDict().values()) for row in spark.sql(sql).collect()]
    except Exception as error:  # noqa: BLE001 - an answer too
        return {"sql": sql, "error": str(error).splitlines()[0], "rows": []}
    return {"sql": sql, "error": None, "rows": rows}


def main() -> None:
    """Print what each statement answers."""
    metastore, warehouse, statements = sys.argv[1:]
    server = serving(metastore)
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    for line in Path(statements).read_text().splitlines():
        print(json.dumps(answer(spark, line.replace("{w}", warehouse)), default=str), flush=True)
    os._exit(0)  # the session's own end would wait for a Sail that has stopped by then


if __name__ == "__main__":
    main()

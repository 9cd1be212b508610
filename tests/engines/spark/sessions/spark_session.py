"""Statements in a stock Spark whose metastore is somewhere else; a line of JSON per statement.

    python spark_session.py thrift://HOST:PORT WAREHOUSE STATEMENTS SCHEMA [KEY=VALUE ...] > out.jsonl

A line: {"sql", "error": null or the error's condition, "rows"}. What differs from run to run (times, files' names,
the warehouse's place) is blanked. In STATEMENTS, a statement a line, {s} is the schema and {w} the warehouse. KEY=VALUE
are further settings of Spark.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

_VARYING = (
    (re.compile(r"(transient_lastDdlTime\"?[=,: '\"]+)\d+"), r"\1TIME"),
    (re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d [\d:]{8} \w+ \d{4}"), "TIME"),
    (re.compile(r"(?<=[\[ ])1[789]\d{11}(?=[,\]])"), "0"),  # milliseconds since 1970
    (re.compile(r"file:/+"), "/"),
)


def session(metastore: str, warehouse: str, conf: Mapping[str, str]) -> SparkSession:
    """A session with Hive support, as Spark's documentation makes one."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.hadoop.hive.metastore.uris", metastore)
        .config(map=dict(conf))
        .enableHiveSupport()
        .getOrCreate()
    )


def answer(spark: SparkSession, sql: str) -> dict[str, Any]:
    """What one statement answers."""
    try:
        rows = [list(row.asDict().values()) for row in spark.sql(sql).collect()]
    except PySparkException as error:
        return {"sql": sql, "error": condition(error) or str(error).splitlines()[0], "rows": []}
    except Py4JJavaError as error:  # an exception that Spark does not know
        return {"sql": sql, "error": error.java_exception.getClass().getName(), "rows": []}
    return {"sql": sql, "error": None, "rows": rows}


def condition(error: PySparkException) -> str | None:
    """The condition of an error, which Spark 3 calls its class; None if it has none."""
    found: str | None = error.getCondition() if hasattr(error, "getCondition") else error.getErrorClass()
    return found


def blank(text: str, warehouse: str) -> str:
    """The text without what differs from run to run."""
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text.replace(warehouse.removeprefix("file:"), "WAREHOUSE")


def main(metastore: str, warehouse: str, statements: Path, schema: str, *conf: str) -> None:
    """Run the statements to their end."""
    spark = session(metastore, warehouse, dict(each.split("=", 1) for each in conf))
    spark.sparkContext.setLogLevel("ERROR")
    for line in statements.read_text().splitlines():
        found = answer(spark, line.replace("{s}", schema).replace("{w}", warehouse))
        print(blank(json.dumps(found, default=str), warehouse), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])

"""A program with a session of Spark Connect at the given address; prints what each of our functions raises, as JSON."""

import json
import sys
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

import hmstats

NOWHERE = "thrift://127.0.0.1:1"
"""No metastore: nobody asks one before the session was looked at."""


def main() -> None:
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    calls: dict[str, Callable[[], Any]] = {
        "analyze": lambda: hmstats.analyze(spark, "default.t", metastore=NOWHERE),
        "check": lambda: hmstats.check(spark, "default.t", metastore=NOWHERE),
        "autogather": lambda: hmstats.autogather(spark, metastore=NOWHERE),
        "writer": lambda: hmstats.writer(spark.range(3), metastore=NOWHERE),
    }
    print(json.dumps({name: raised(call) for name, call in calls.items()}))
    spark.stop()


def raised(call: Callable[[], Any]) -> tuple[str, str] | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - which one it is, is what the test looks at
        return type(error).__name__, str(error)
    return None


if __name__ == "__main__":
    main()

"""Statements in a session that hmstats follows; a line of JSON per statement says what was gathered, and is stored.

    python -m tests.engines.spark.sessions.followed_lake thrift://HOST:PORT WAREHOUSE TABLE STATEMENTS [KEY=VALUE ...]

A line: {"sql", "outcomes": [[gathered, reason]], "count", "exact", "distinct"}, where the last three are what the
metastore says of TABLE and its column `id`; null where it says nothing. KEY=VALUE are further settings of Spark. The
line `saveAsTable TABLE FORMAT QUERY` appends a query's rows by a DataFrame.
"""

import json
import sys
from pathlib import Path
from typing import Any

from tests.engines.spark.sessions.spark_session import session

import hmstats
from hmstats.errors import HmstatsError


def main() -> None:
    """Run the statements of a file, a statement a line."""
    metastore, warehouse, table, statements, *settings = sys.argv[1:]
    spark = session(metastore, warehouse, dict(each.split("=", 1) for each in settings))
    following = hmstats.autogather(spark)
    with hmstats.connect(metastore) as service:
        for sql in Path(statements).read_text().splitlines():
            _run(spark, sql)
            outcomes = [[each.gathered, each.reason] for each in following.wait(120) if str(each.table).endswith(table)]
            print(json.dumps({"sql": sql, "outcomes": outcomes, **_stored(service, table)}), flush=True)
    spark.stop()


def _run(spark: Any, line: str) -> None:
    if not line.startswith("saveAsTable "):
        spark.sql(line).collect()  # which Spark tells of like a second command
        return
    _, table, kind, query = line.split(" ", 3)
    spark.sql(query).write.format(kind).mode("append").saveAsTable(table)


def _stored(service: hmstats.Metastore, table: str) -> dict[str, Any]:
    try:
        asked = service.table(table)
        count, distinct = asked.count(), asked.distinct("id")
    except HmstatsError:
        return {"count": None, "exact": None, "distinct": None}
    return {"count": count.count, "exact": count.exact, "distinct": distinct.count}


if __name__ == "__main__":
    main()

"""docs/engines/spark.md in a stock Spark: run as a program, it prints a JSON list of what every block of the page gave.

python -m tests.docs.spark_page_session thrift://HOST:PORT WAREHOUSE TPCH_FOLDER PAGE

The session says that it is Spark by its user's name, as the page tells. A plan is shortened as the page says.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from tests.engines.spark.sessions.spark_session import session

CONF = {"spark.sql.cbo.enabled": "true", "spark.sql.cbo.joinReorder.enabled": "true"}
TABLES = ("region", "nation", "customer", "orders", "lineitem")
_BLOCK = re.compile(r"^```(sql|python|console|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_OPERATOR = re.compile(r"^([:+\- ]*)(\w.*?), Statistics\(sizeInBytes=[^,)]*(?:, rowCount=([^)]*))?\)$")
_COLUMN_ID = re.compile(r"#\d+L?")
_RELATION = re.compile(r"Relation spark_catalog\.([\w.]+)\[.*")


class Step(NamedTuple):
    """A block of the page: its language, what it says, and what it shows of the outcome."""

    language: str
    source: str
    shown: str


def steps(page: str) -> Iterator[Step]:
    """The blocks that are run, each with the text that follows."""
    blocks = _BLOCK.findall(page)
    for (language, source), (following, text) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "console":
            command, _, output = source.removeprefix("$ ").partition("\n")
            yield Step(language, command, output)
        elif language != "text":
            yield Step(language, source, text if following == "text" else "")


def outcome(spark: SparkSession, metastore: str, step: Step) -> str:
    """What a block gives, in the form of the page."""
    if step.language == "python":
        exec(compile(step.source, "spark.md", "exec"), {"spark": spark})
        return ""
    if step.language == "console":
        return command(metastore, step.source)
    for statement in step.source.split(";"):
        rows = spark.sql(statement).collect()
    return shortened(rows[0][0]) if step.source.startswith("EXPLAIN") else ""


def command(metastore: str, line: str) -> str:
    """What a command of ours prints."""
    program = str(Path(sys.executable).with_name("hmstats"))
    given = os.environ | {"HMSTATS__METASTORE": metastore}
    arguments = [program, *shlex.split(line)[1:]]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=True, env=given).stdout


def shortened(plan: str) -> str:
    """The optimized plan: of one with joins these and the tables alone, and how many rows Spark expects of tables."""
    optimized = plan.partition("== Optimized Logical Plan ==\n")[2].partition("\n\n")[0]
    found = [match for line in optimized.splitlines() if (match := _OPERATOR.match(line))]
    wanted = ("Join", "Relation") if any(match[2].startswith("Join") for match in found) else ("Filter", "Relation")
    lines, above = [], list[tuple[int, bool]]()
    for depth, name, rows in ((len(match[1]), match[2], match[3]) for match in found):
        above = [each for each in above if each[0] < depth]
        shown = name.startswith(wanted)
        if shown:
            expected = "" if name.startswith("Join") else f", {rows} rows" if rows else ", rows unknown"
            text = _COLUMN_ID.sub("", _RELATION.sub(r"Relation \1", name))
            lines.append("   " * sum(kept for _, kept in above) + text + expected)
        above.append((depth, shown))
    return "\n".join([*lines, ""])


def joined_rows(spark: SparkSession, order: list[str]) -> int:
    """How many rows the joins of the page pass on, when the tables are joined in this order."""
    conditions = {
        "l_orderkey = o_orderkey": {"lineitem", "orders"},
        "o_custkey = c_custkey": {"orders", "customer"},
        "c_nationkey = n_nationkey": {"customer", "nation"},
        "n_name = 'GERMANY'": {"nation"},
        "o_orderdate >= DATE '1998-01-01'": {"orders"},
    }
    total = 0
    for size in range(2, len(order) + 1):
        tables = order[:size]
        holding = " AND ".join(text for text, of in conditions.items() if of <= set(tables))
        names = ", ".join(f"tpch.{table}" for table in tables)
        total += spark.sql(f"SELECT count(*) FROM {names} WHERE {holding}").collect()[0][0]
    return total


def run(spark: SparkSession, metastore: str, data: Path, page: str) -> dict[str, Any]:
    """Every block's source, what the page shows of it and what it gave; and the rows of both orders of joins."""
    spark.sql("CREATE DATABASE tpch")
    for table in TABLES:
        spark.read.parquet(str(data / f"{table}.parquet")).write.saveAsTable(f"tpch.{table}")
    found = [[step.source, step.shown, outcome(spark, metastore, step)] for step in steps(page)]
    orders = [["lineitem", "orders", "customer", "nation"], ["customer", "nation", "orders", "lineitem"]]
    return {"blocks": found, "rows": [joined_rows(spark, order) for order in orders]}


if __name__ == "__main__":
    os.environ["HADOOP_USER_NAME"] = "spark"
    started = session(sys.argv[1], sys.argv[2], CONF)
    print(json.dumps(run(started, sys.argv[1], Path(sys.argv[3]), Path(sys.argv[4]).read_text())))
    started.stop()

"""A stock Spark that is told one statement after the other: a line of SQL in, a line of JSON out.

python -m tests.engines.spark.sessions.spark_dialogue thrift://HOST:PORT[,thrift://HOST:PORT] WAREHOUSE [KEY=VALUE ...]
"""

import json
import sys

from tests.engines.spark.sessions.spark_session import answer, session


def main(metastore: str, warehouse: str, *conf: str) -> None:
    """Answer until there is nothing more to read."""
    spark = session(metastore, warehouse, dict(each.split("=", 1) for each in conf))
    spark.sparkContext.setLogLevel("ERROR")
    for line in sys.stdin:
        print(json.dumps(answer(spark, line.strip()), default=str), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

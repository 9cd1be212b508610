"""Runs a session on a real Hive Metastore 4.0.1 over a PostgreSQL of its own, and prints what the engine answers.

python -m tests.peers.hive_engine.record tests/peers/hive_engine/SESSION.sql > SESSION-on-hive-4.0.1.jsonl
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fixtures.hive import hive
from tests.fixtures.postgres import own_server
from tests.peers.hive_engine import jars, run

_PROXY = "org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore"


@contextmanager
def metastore(folder: Path, database: str) -> Iterator[tuple[int, str]]:
    """The port of a real metastore that evaluates conditions over partitions, and its warehouse.

    Bit vectors are sent, so that Hive merges them. Hive's transformer would make managed tables external.
    """
    warehouse = f"file:{folder}/warehouse"
    settings = {
        "metastore.warehouse.dir": warehouse,
        "metastore.warehouse.external.dir": warehouse,
        "metastore.expression.proxy": _PROXY,
        "metastore.metadata.transformer.class": " ",
        "metastore.stats.fetch.bitvector": "true",
    }
    (folder / "warehouse").mkdir(parents=True)
    given = [f"{key}={value}" for key, value in settings.items()]
    before = os.environ.get("JDK_JAVA_OPTIONS")
    os.environ["JDK_JAVA_OPTIONS"] = " ".join(jars.OPEN)
    try:
        with hive("4.0", folder, *given, database=database, jars=jars.metastore()) as port:
            yield port, warehouse
    finally:
        os.environ.pop("JDK_JAVA_OPTIONS") if before is None else os.environ.update(JDK_JAVA_OPTIONS=before)


def main() -> None:
    """Print the answers."""
    session = Path(sys.argv[1]) if len(sys.argv) > 1 else run.SESSION
    with tempfile.TemporaryDirectory() as place, own_server() as database:
        folder = Path(place).resolve()
        with metastore(folder, database) as (port, warehouse):
            for each in run.answers(f"thrift://127.0.0.1:{port}", warehouse, folder / "engine", session):
                print(json.dumps(each, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()

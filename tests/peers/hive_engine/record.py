"""Runs a session on a real Hive Metastore over a PostgreSQL of its own, and prints what the engine answers.

python -m tests.peers.hive_engine.record SESSION.sql [--release 3.1] > SESSION-on-hive-4.0.1.jsonl
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fixtures.databases.postgres import own_server
from tests.fixtures.hive import hive
from tests.peers.hive_engine import jars, run

_PROXY = "org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore"


@contextmanager
def metastore(folder: Path, database: str, release: str = "4.0") -> Iterator[tuple[int, str]]:
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
    path = jars.metastore(release)
    with hive(release, folder, *given, database=database, jars=path, java_options=jars.OPEN) as port:
        yield port, warehouse


def main() -> None:
    """Print the answers."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("session", type=Path)
    parser.add_argument("--release", choices=("4.0", "3.1"), default="4.0")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, own_server() as database:
        folder = Path(place).resolve()
        with metastore(folder, database, given.release) as (port, warehouse):
            uri = f"thrift://127.0.0.1:{port}"
            for each in run.answers(uri, warehouse, folder / "engine", given.session, given.release):
                print(json.dumps(each, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()

"""A stock Spark that knows two servers, which are killed in turn while its statements run: none fails.

HMSTATS_TEST_FAIL_OVERS says how many servers are killed.
"""

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.harness.server_process import addresses, two_servers

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

KILLS = int(os.environ.get("HMSTATS_TEST_FAIL_OVERS", "4"))
CHECKOUT = Path(__file__).resolve().parents[3]
STATEMENTS = (
    "INSERT OVERWRITE TABLE d.sales PARTITION (day = {turn}) SELECT id, id * 0.5 FROM range({rows})",
    "ANALYZE TABLE d.sales PARTITION (day = {turn}) COMPUTE STATISTICS",
    "ALTER TABLE d.sales SET TBLPROPERTIES ('turn' = '{turn}')",
    "SHOW PARTITIONS d.sales PARTITION (day = {turn})",
    "SELECT count(*) FROM d.sales WHERE day = {turn}",
    "SHOW TBLPROPERTIES d.sales ('turn')",
)
"""What may be done twice: Spark asks again when it hears nothing, and a table that is there cannot be made again."""
_LONGEST_STATEMENT_SECONDS = 3.0


class Spark:
    """A session in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def answer(self, sql: str) -> list[Any]:
        """The rows of a statement; fails when Spark does."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(sql + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        assert found["error"] is None, found
        rows: list[Any] = found["rows"]
        return rows


@contextmanager
def spark(metastore: str, folder: Path) -> Iterator[Spark]:
    """A stock session on these addresses."""
    place = f"file:{folder}/warehouse"
    command = [sys.executable, "-m", "tests.engines.spark.sessions.spark_dialogue", metastore, place]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    with (folder / "spark.log").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        yield Spark(process)
    finally:
        process.communicate(timeout=120)


def test_spark_while_two_servers_are_killed_in_turn(postgres_url: str, tmp_path: Path) -> None:
    with two_servers(tmp_path, postgres_url) as servers, spark(addresses(servers), tmp_path) as session:
        session.answer("CREATE DATABASE d")
        session.answer("CREATE TABLE d.sales (id bigint, price double) PARTITIONED BY (day int) STORED AS PARQUET")
        for turn in range(KILLS):
            doomed = servers[turn % 2]
            kill = threading.Timer(random.random() * _LONGEST_STATEMENT_SECONDS, doomed.kill)
            kill.start()
            _check_turn(session, turn)
            kill.join()
            _check_turn(session, turn)  # all of it once more, with the other server alone
            doomed.start()
        whole = [[str(turn), str(turn + 1)] for turn in range(KILLS)]
        counted = session.answer("SELECT day, count(*) FROM d.sales GROUP BY day ORDER BY day")
        assert [[str(each) for each in row] for row in counted] == whole
    print(f"{KILLS} servers killed in turn; {2 * KILLS * len(STATEMENTS)} statements of Spark, none failed")


def _check_turn(session: Spark, turn: int) -> None:
    rows = turn + 1
    found = [session.answer(sql.format(turn=turn, rows=rows)) for sql in STATEMENTS]
    assert found[3:] == [[[f"day={turn}"]], [[rows]], [["turn", str(turn)]]]

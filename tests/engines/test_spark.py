"""One session of a stock Spark on a real Hive Metastore and on ours: every statement answers the same."""

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

HERE = Path(__file__).parent
STATEMENTS = HERE / "spark_session.sql"
BETTER = {
    "SELECT count(*) FROM {s}.sales WHERE region like 'a%' AND day >= 1": "Hive 2.3 filters on texts only",
    "DESCRIBE EXTENDED {s}.sales PARTITION (region = 'us', day = 0)": "Hive lists the directory to count its files",
}
"""Where ours answers otherwise, and why; docs/compatibility.md says the same."""

Answers = dict[str, dict[str, Any]]


def session(metastore: str, warehouse: Path, schema: str) -> Answers:
    """What Spark answers to each statement; a statement that comes again is numbered."""
    done = subprocess.run(
        [sys.executable, HERE / "spark_session.py", metastore, f"file:{warehouse}", STATEMENTS, schema],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=warehouse.parent,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line.replace(schema, "{s}")) for line in done.stdout.splitlines()]
    return {f"{number} {line['sql']}": line for number, line in enumerate(lines)}


@contextmanager
def ours(folder: Path) -> Iterator[tuple[str, Path]]:
    """A server of ours and its warehouse."""
    with serving(folder) as port:
        yield f"thrift://127.0.0.1:{port}", folder / "warehouse"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What Spark answers on Hive 2.3.10."""
    folder = tmp_path_factory.mktemp("spark-hive")
    with hive("2.3", folder, f"hive.metastore.warehouse.dir=file:{folder}/warehouse") as port:
        return session(f"thrift://127.0.0.1:{port}", folder / "warehouse", "enginetest")


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> list[Answers]:
    """What two Sparks answer that use one server of ours at the same time."""
    with ours(tmp_path_factory.mktemp("spark-ours")) as (metastore, warehouse), ThreadPoolExecutor(2) as pool:
        schemas = ("enginetest", "otherenginetest")
        return list(pool.map(lambda schema: session(metastore, warehouse, schema), schemas))


def test_the_session_ran_whole(expected: Answers) -> None:
    assert len(expected) == len(STATEMENTS.read_text().splitlines())


@pytest.mark.parametrize("number", [0, 1])
def test_every_statement_answers_as_on_hive(expected: Answers, at_once: list[Answers], number: int) -> None:
    differing = {
        sql: (expected[sql], found)
        for sql, found in at_once[number].items()
        if found != expected[sql] and found["sql"] not in BETTER
    }
    assert differing == {}


def test_what_hive_refuses_is_answered(at_once: list[Answers]) -> None:
    found = [each for each in at_once[0].values() if each["sql"] in BETTER]
    assert [each["error"] for each in found] == [None] * len(BETTER)

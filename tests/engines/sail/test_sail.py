"""One session of Sail on real Hive Metastores and on ours: every statement answers the same.

Sail reads files by itself, and takes only databases, tables and views from the metastore.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers import cache

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

SESSION = Path(__file__).with_name("sail_session.py")
STATEMENTS = Path(__file__).with_name("sail_session.sql")
PACKAGES = ("pysail==0.7.2", "pyspark-client==4.1.*")
_TIME = re.compile(r"(?<=transient_lastDdlTime=)\d+")


def packages() -> Path:
    """A folder with Sail and the client of Spark Connect, which is filled on first use."""
    folder = cache.CACHE / "sail-0.7.2"
    with cache.filling(folder) as empty:
        if empty:
            to = ("--target", str(folder / "packages"))
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *to, *PACKAGES], check=True)
    return folder / "packages"


def session(port: int, folder: Path) -> list[dict[str, Any]]:
    """What each statement answers; the tables lie below the folder."""
    given = (f"thrift://127.0.0.1:{port}", f"file://{folder}/elsewhere", str(STATEMENTS))
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    done = subprocess.run(
        [sys.executable, SESSION, *given],
        env={**environment, "PYTHONPATH": str(packages())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]  # Sail logs there too
    return [json.loads(_TIME.sub("TIME", line.replace(str(folder), "FOLDER"))) for line in lines]


def test_every_statement_answers_as_on_hive(tmp_path: Path) -> None:
    for each in ("2.3", "3.1", "ours"):
        (tmp_path / each).mkdir()
    with serving(tmp_path / "ours") as port:
        found = session(port, tmp_path / "ours")
    assert len(found) == len(STATEMENTS.read_text().splitlines())
    for release in ("2.3", "3.1"):
        where = f"hive.metastore.warehouse.dir=file:{tmp_path}/{release}/warehouse"
        with hive(release, tmp_path / release, where) as port:
            expected = session(port, tmp_path / release)
        assert [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]] == []

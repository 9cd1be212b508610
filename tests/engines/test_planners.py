"""The same sessions of Trino and of Presto on a real Hive Metastore and on ours: every statement answers the same."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import CHECKOUT, free_port, hive
from tests.fixtures.servers import serving
from tests.peers import launch

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

PEERS = CHECKOUT / "tests" / "peers"
SESSIONS = ("session.sql", "session-long.sql")
JDKS = {"presto": (11, 17), "trino": (25, 99)}

BETTER = {
    "SHOW STATS FOR (SELECT * FROM orders2 WHERE orderstatus = 'F')": "Hive loses partitions' statistics in a rename",
}
"""Where ours answers otherwise, and why; docs/compatibility.md says the same."""

_ENTRY = re.compile(r"\w+=\[ .*? \](?=, \w+=\[ |\})")

Answers = list[dict[str, Any]]


@contextmanager
def planner(dialect: str, metastore_port: int, folder: Path) -> Iterator[str]:
    """The address of an engine whose catalog uses a metastore."""
    port = free_port()
    command = [sys.executable, "-m", f"tests.peers.start_{dialect}", "--http-port", str(port), "--dir", str(folder)]
    metastore = ("--metastore", f"thrift://127.0.0.1:{metastore_port}")
    with (folder / "engine.log").open("w") as log:
        engine = subprocess.Popen([*command, *metastore], cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=log, text=True)
    assert engine.stdout is not None
    try:
        assert engine.stdout.readline().strip() == f"ready {port}", (folder / "engine.log").read_text()[-3000:]
        yield f"http://127.0.0.1:{port}"
    finally:
        engine.terminate()
        engine.communicate(timeout=60)


def answers(dialect: str, metastore_port: int, folder: Path) -> dict[str, Answers]:
    """What an engine answers to the statements of each session, whose tables lie in the folder."""
    found = {}
    with planner(dialect, metastore_port, folder) as url:
        for session in SESSIONS:
            warehouse = folder / "warehouse" / session.removesuffix(".sql")
            warehouse.mkdir(parents=True)
            options = ("--warehouse", f"file:{warehouse}", "--dialect", dialect, "--session", str(PEERS / session))
            command = [sys.executable, "-m", "tests.peers.planner_session", url, *options]
            done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=900, check=True)
            found[session] = [json.loads(ordered(line)) for line in done.stdout.splitlines()]
    return found


def ordered(line: str) -> str:
    """The line with the domains of a layout in one order: Presto prints them in that of a hash map."""
    return re.sub(r"domains=\{(.*?\])\}", lambda match: f"domains={{{_sorted(match[0])}}}", line)


def _sorted(domains: str) -> str:
    return ", ".join(sorted(_ENTRY.findall(domains)))


@pytest.fixture(scope="module", params=list(JDKS))
def dialect(request: pytest.FixtureRequest) -> str:
    """An engine that this machine can run."""
    name: str = request.param
    try:
        launch.find_java(*JDKS[name], None)
    except SystemExit as missing:
        pytest.skip(f"{name}: {missing}")
    if shutil.which("mvn") is None:
        pytest.skip(f"{name} comes from Maven, not found on this machine")
    return name


@pytest.fixture(scope="module")
def expected(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """The answers on Hive 2.3.10."""
    folder = tmp_path_factory.mktemp(f"{dialect}-hive")
    with hive("2.3", folder, f"hive.metastore.warehouse.dir=file:{folder}/warehouse") as port:
        return answers(dialect, port, folder)


@pytest.fixture(scope="module")
def found(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """The answers on ours."""
    folder = tmp_path_factory.mktemp(f"{dialect}-ours")
    with serving(folder) as port:
        return answers(dialect, port, folder)


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive(
    expected: dict[str, Answers], found: dict[str, Answers], session: str
) -> None:
    assert len(found[session]) == len(expected[session]) > 40
    differing = [pair for pair in zip(expected[session], found[session], strict=True) if pair[0] != pair[1]]
    assert [pair for pair in differing if pair[0]["sql"] not in BETTER] == []

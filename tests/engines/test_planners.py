"""Sessions of Trino and of Presto on a real Hive Metastore and on ours: every statement answers the same.

On ours they run wherever the tables lie: in the server's warehouse, in another folder, behind a link, in an object
store, and, the first of them, in HDFS.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures import java_peers
from tests.fixtures.hdfs import hdfs
from tests.fixtures.hive import CHECKOUT, hive
from tests.fixtures.object_stores.object_store import BUCKET, ObjectStore, object_store
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.peers.sessions import planner_session

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

TEXTS = CHECKOUT / "tests" / "peers" / "sessions"
SESSIONS = ("session.sql", "session-long.sql", "session-catalog.sql")
JDKS = {"presto": (11, 17), "trino": (25, 99)}
S3 = {"presto": ("hive.s3", "hive.s3.ssl.enabled=false"), "trino": ("s3", "fs.native-s3.enabled=true")}
"""How the properties of S3 begin, and the one that must be set before them."""

BETTER = {
    "SHOW STATS FOR (SELECT * FROM orders2 WHERE orderstatus = 'F')": "Hive loses partitions' statistics in a rename",
}
"""Where ours answers otherwise, and why; docs/reference/compatibility.md says the same."""

_ENTRY = re.compile(r"\w+=\[ .*? \](?=, \w+=\[ |\})")

Answers = list[dict[str, Any]]


@contextmanager
def planner(dialect: str, metastore_port: int, folder: Path, *properties: str) -> Iterator[str]:
    """The address of an engine whose catalog uses a metastore."""
    port = free_port()
    command = [sys.executable, "-m", f"tests.peers.start_{dialect}", "--http-port", str(port), "--dir", str(folder)]
    command += [flag for each in properties for flag in ("--set", each)]
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
    with planner(dialect, metastore_port, folder) as url:
        return {session: answers_at(dialect, url, session, folder / "warehouse") for session in SESSIONS}


def answers_at(dialect: str, url: str, session: str, parent: Path | str) -> Answers:
    """What a running engine answers to a session's statements, whose tables lie in a folder or behind a URI."""
    name = session.removesuffix(".sql")
    if isinstance(parent, Path):
        (parent / name).mkdir(parents=True)
    warehouse = f"file:{parent / name}" if isinstance(parent, Path) else f"{parent}/{name}"
    options = ("--warehouse", warehouse, "--dialect", dialect, "--session", str(TEXTS / session))
    command = [sys.executable, "-m", "tests.peers.sessions.planner_session", url, *options]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=900, check=True)
    return [json.loads(ordered(line)) for line in done.stdout.splitlines()]


def ordered(line: str) -> str:
    """The line with the domains of a layout in one order: Presto prints them in that of a hash map."""
    return re.sub(r"domains=\{(.*?\])\}", lambda match: f"domains={{{_sorted(match[0])}}}", line)


def _sorted(domains: str) -> str:
    return ", ".join(sorted(_ENTRY.findall(domains)))


@pytest.fixture(scope="module", params=list(JDKS))
def dialect(request: pytest.FixtureRequest) -> str:
    """An engine that this machine can run."""
    name: str = request.param
    java_peers.need(name, *JDKS[name])
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


@pytest.fixture(scope="module")
def elsewhere(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Answers]]:
    """The answers on ours when tables lie outside of the server's warehouse, by layout."""
    folder = tmp_path_factory.mktemp(f"{dialect}-elsewhere")
    (folder / "behind").mkdir()
    (folder / "link").symlink_to(folder / "behind")
    places = {"another folder": folder / "another", "a link": folder / "link"}
    with serving(folder) as port, planner(dialect, port, folder) as url:
        return {
            layout: {session: answers_at(dialect, url, session, place) for session in SESSIONS}
            for layout, place in places.items()
        }


@pytest.fixture(scope="module")
def in_object_store(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """The answers on ours when tables lie in an object store, of which the server says s3 and the engine s3a."""
    folder = tmp_path_factory.mktemp(f"{dialect}-store")
    with (
        object_store(folder) as store,
        serving(folder, warehouse=f"s3://{BUCKET}/warehouse", environment=store.environment) as port,
        planner(dialect, port, folder, *s3_properties(dialect, store)) as url,
    ):
        return {each: answers_at(dialect, url, each, f"s3a://{BUCKET}/warehouse") for each in SESSIONS}


@pytest.fixture(scope="module")
def in_hdfs(dialect: str, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """The answers to the first session on ours when tables lie in HDFS, outside of the server's warehouse there."""
    folder = tmp_path_factory.mktemp(f"{dialect}-hdfs")
    with hdfs(folder) as name_node:
        root = f"hdfs://127.0.0.1:{name_node}"
        with serving(folder, warehouse=f"{root}/warehouse") as port, planner(dialect, port, folder) as url:
            return answers_at(dialect, url, SESSIONS[0], f"{root}/elsewhere")


def s3_properties(dialect: str, store: ObjectStore) -> list[str]:
    """How the engine's catalog reaches a store."""
    prefix, switch = S3[dialect]
    given = {
        "endpoint": store.environment["AWS_ENDPOINT_URL"],
        "path-style-access": "true",
        "aws-access-key": store.environment["AWS_ACCESS_KEY_ID"],
        "aws-secret-key": store.environment["AWS_SECRET_ACCESS_KEY"],
    }
    if dialect == "trino":
        given["region"] = store.environment["AWS_REGION"]
    return [switch, *(f"{prefix}.{name}={value}" for name, value in given.items())]


def _differing(dialect: str, session: str, expected: Answers, found: Answers) -> list[Any]:
    asked = planner_session.statements(TEXTS / session, dialect, "")
    assert len(found) == len(expected) == len(asked) > 20
    pairs = [pair for pair in zip(expected, found, strict=True) if pair[0] != pair[1]]
    return [pair for pair in pairs if pair[0]["sql"] not in BETTER]


@pytest.mark.parametrize("layout", ["another folder", "a link"])
@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive_elsewhere(
    dialect: str, expected: dict[str, Answers], elsewhere: dict[str, dict[str, Answers]], session: str, layout: str
) -> None:
    assert _differing(dialect, session, expected[session], elsewhere[layout][session]) == []


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive_in_an_object_store(
    dialect: str, expected: dict[str, Answers], in_object_store: dict[str, Answers], session: str
) -> None:
    assert _differing(dialect, session, expected[session], in_object_store[session]) == []


def test_every_statement_answers_as_on_hive_in_hdfs(
    dialect: str, expected: dict[str, Answers], in_hdfs: Answers
) -> None:
    assert _differing(dialect, SESSIONS[0], expected[SESSIONS[0]], in_hdfs) == []


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive(
    dialect: str, expected: dict[str, Answers], found: dict[str, Answers], session: str
) -> None:
    assert _differing(dialect, session, expected[session], found[session]) == []

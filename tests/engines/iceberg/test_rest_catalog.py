"""A REST catalog of Iceberg's own handlers: PyIceberg and Trino's Iceberg connector find there what was registered."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_analyze import command
from tests.engines.iceberg.test_puffin_in_trino import PARTLY_DONE, TYPES, WITHOUT_COUNTS
from tests.engines.test_planners import planner
from tests.fixtures.ports import free_port
from tests.fixtures.servers import serving
from tests.peers import launch, start_trino

pytestmark = [pytest.mark.engines, pytest.mark.slow]

SERVER = Path(start_trino.__file__).with_name("rest_catalog") / "RestCatalogPeer.java"
SETTINGS = {"X-Trino-User": "test", "X-Trino-Catalog": "rest", "X-Trino-Schema": "s"}
Ask = Callable[[str], list[Any]]


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The catalog's address."""
    try:
        java = launch.find_java(25, 99, None)
    except SystemExit as missing:
        pytest.skip(f"Trino: {missing}")
    if shutil.which("mvn") is None:
        pytest.skip("Trino comes from Maven, not found on this machine")
    folder, port = tmp_path_factory.mktemp("rest"), free_port()
    peer = [java, "-Xmx512m", "-cp", start_trino.class_path(java), str(SERVER), str(port), str(folder / "lake")]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(peer, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    try:
        assert server.stdout.readline().strip() == f"ready {port}", (folder / "log").read_text()[-3000:]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture(scope="module")
def ask(uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks a Trino on the catalog."""
    folder = tmp_path_factory.mktemp("trino")
    with serving(folder) as port, planner("trino", port, folder, f"rest={uri}") as url:
        at = int(url.rpartition(":")[2])

        def ask(sql: str) -> list[Any]:
            session = {"X-Trino-Session": WITHOUT_COUNTS["X-Trino-Session"].replace("iceberg.", "rest.")}
            return launch.query(at, sql, SETTINGS | session, timeout_seconds=300)

        ask("CREATE SCHEMA rest.s")
        yield ask


def analyzed(uri: str, table: str, *options: str) -> None:
    names = {"TYPE": "rest", "URI": uri}
    given = {f"PYICEBERG_CATALOG__JAVA__{name}": value for name, value in names.items()}
    done = command("--catalog", "java", "--puffin-columns", "all", *options, f"s.{table}", **given)
    assert done.returncode in (0, PARTLY_DONE), done.stderr


@pytest.mark.parametrize("version", [1, 2, 3])
def test_our_analysis_shows_as_that_of_trino(ask: Ask, uri: str, version: int) -> None:
    """All types, partitioned by transforms; rows deleted by position (version 2) and by deletion vectors (3)."""
    table = f"t{version}"
    for line in TYPES.read_text().splitlines():
        ask(line.format(table=table, version=version))
    if version > 1:
        ask(f"DELETE FROM {table} WHERE l < 100 AND l % 2 = 0")
    assert {ndv for _, _, ndv, *_ in ask(f"SHOW STATS FOR {table}")} == {None}
    analyzed(uri, table)
    ours = ask(f"SHOW STATS FOR {table}")
    assert [ndv is None for _, _, ndv, *_ in ours] == [False] * 14 + [True] * 2
    ask(f"ANALYZE {table}")
    assert ours == ask(f"SHOW STATS FOR {table}")


def test_added_rows_are_merged(ask: Ask, uri: str) -> None:
    """Our sketch and the rows that Trino adds, and Trino's sketch and the rows that we read."""
    ask("CREATE TABLE added AS SELECT a FROM UNNEST(sequence(0, 99)) q(a)")
    analyzed(uri, "added")
    ask("INSERT INTO added SELECT a FROM UNNEST(sequence(50, 149)) q(a)")
    analyzed(uri, "added", "--changed-only")
    assert [ndv for name, _, ndv, *_ in ask("SHOW STATS FOR added") if name == "a"] == [150]

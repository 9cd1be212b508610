"""PyIceberg's catalog lives on a metastore: the same session on a real Hive Metastore and on ours."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
    WaitingForLockException,
)
from pyiceberg.types import StringType
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving

pytestmark = [pytest.mark.engines, pytest.mark.sampled, pytest.mark.slow]

WRITERS, COMMITS = 3, 3
REFUSALS = (NamespaceAlreadyExistsError, NamespaceNotEmptyError, NoSuchTableError, TableAlreadyExistsError)
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", None]})


@contextmanager
def ours(folder: Path, database_url: str | None = None) -> Iterator[HiveCatalog]:
    """A catalog on a server of ours."""
    with serving(folder, database=database_url) as port:
        yield catalog(port, folder)


@pytest.fixture
def theirs(tmp_path: Path, postgres_server: str) -> Iterator[HiveCatalog]:
    """A catalog on Hive 2.3.10, which keeps locks on PostgreSQL only."""
    folder = tmp_path / "hive"
    folder.mkdir()
    where = f"hive.metastore.warehouse.dir=file:{folder}/warehouse"
    with fresh_database(postgres_server) as url, hive("2.3", folder, where, database=url) as port:
        yield catalog(port, folder)


def catalog(port: int, folder: Path) -> HiveCatalog:
    """PyIceberg's catalog on a metastore."""
    waits = {"lock-check-min-wait-time": "0.05", "lock-check-max-wait-time": "0.2", "lock-check-retries": "100"}
    return HiveCatalog("test", uri=f"thrift://127.0.0.1:{port}", warehouse=f"file://{folder}/warehouse", **waits)


def refusal(call: Callable[[], Any]) -> str:
    """The name of the error that a call ends with."""
    try:
        call()
    except REFUSALS as error:
        return type(error).__name__
    return "none"


def session(at: HiveCatalog) -> dict[str, Any]:
    """From a namespace made to a namespace dropped; what was seen on the way."""
    seen: dict[str, Any] = {}
    at.create_namespace("lake", {"comment": "a lake"})
    table = at.create_table("lake.t", schema=ROWS.schema)
    table.append(ROWS)
    seen["rows"] = at.load_table("lake.t").scan().to_arrow().to_pylist()
    with table.update_schema() as update:
        update.add_column("note", StringType())
    table.append(ROWS.append_column("note", pa.array(["x", "y", "z"])))
    seen["columns"] = [field.name for field in at.load_table("lake.t").schema().fields]
    seen["snapshots"] = len(at.load_table("lake.t").snapshots())
    with table.transaction() as change:
        change.set_properties({"a.key": "a value"})
    seen["property"] = at.load_table("lake.t").properties.get("a.key")
    at.rename_table("lake.t", "lake.u")
    seen["tables"] = at.list_tables("lake")
    seen["renamed"] = at.load_table("lake.u").scan().to_arrow().num_rows
    seen["missing"] = refusal(lambda: at.load_table("lake.t"))
    seen["taken"] = refusal(lambda: at.create_table("lake.u", schema=ROWS.schema))
    seen["namespace taken"] = refusal(lambda: at.create_namespace("lake"))
    seen["not empty"] = refusal(lambda: at.drop_namespace("lake"))
    at.update_namespace_properties("lake", updates={"owner.team": "b"})
    seen["namespace"] = at.load_namespace_properties("lake").get("owner.team")
    at.drop_table("lake.u")
    seen["dropped"] = refusal(lambda: at.drop_table("lake.u"))
    at.drop_namespace("lake")
    seen["namespaces"] = at.list_namespaces()
    return seen


def test_a_whole_session_is_that_of_hive(theirs: HiveCatalog, tmp_path: Path) -> None:
    with ours(tmp_path) as mine:
        assert session(mine) == session(theirs)


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_of_racing_commits_each_happens_once(database: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("postgres_url") if database == "postgres" else None
    with ours(tmp_path, url) as at:
        at.create_namespace("lake")
        at.create_table("lake.t", schema=ROWS.schema)

        def write(_: int) -> None:
            own = HiveCatalog("test", **at.properties)
            done = 0
            while done < COMMITS:
                try:
                    own.load_table("lake.t").append(ROWS)
                    done += 1
                except (CommitFailedException, WaitingForLockException):
                    continue

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, range(WRITERS)))
        table = at.load_table("lake.t")
        assert table.scan().to_arrow().num_rows == WRITERS * COMMITS * ROWS.num_rows
        assert len(table.snapshots()) == WRITERS * COMMITS

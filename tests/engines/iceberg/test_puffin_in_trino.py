"""Trino's Iceberg connector on our metastore: it plans by our sketches as by its own, and merges them with new rows."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_analyze import command
from tests.engines.test_planners import planner
from tests.fixtures import java_peers
from tests.fixtures.servers import serving
from tests.peers import launch

pytestmark = [pytest.mark.engines, pytest.mark.slow]

TYPES = Path(__file__).with_name("trino_types.sql")
WITHOUT_COUNTS = {"X-Trino-Session": "iceberg.collect_extended_statistics_on_write=false"}
"""Trino counts distinct values as it writes unless it is told not to."""
PARTLY_DONE = 3
JOIN = "SELECT count(*) FROM fact f JOIN many m ON f.low = m.low JOIN one o ON f.high = o.high"
Ask = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Ask]]:
    """The metastore's address, and a Trino on it."""
    java_peers.need("Trino", 25, 99)
    folder = tmp_path_factory.mktemp("trino")
    with serving(folder) as port, planner("trino", port, folder) as url:
        at = int(url.rpartition(":")[2])

        def ask(sql: str, *, counted: bool = False) -> list[Any]:
            given = {"X-Trino-User": "test", "X-Trino-Catalog": "iceberg", "X-Trino-Schema": "s"}
            return launch.query(at, sql, given | ({} if counted else WITHOUT_COUNTS), timeout_seconds=300)

        ask("CREATE SCHEMA iceberg.s")
        yield f"thrift://127.0.0.1:{port}", ask


def analyzed(address: str, table: str) -> None:
    done = command("--metastore", address, "--puffin-columns", "all", f"s.{table}")
    assert done.returncode in (0, PARTLY_DONE), done.stderr


def counts(ask: Ask, table: str) -> dict[str, float]:
    """Distinct count by column."""
    return {name: ndv for name, _, ndv, *_ in ask(f"SHOW STATS FOR {table}") if name and ndv is not None}


@pytest.mark.parametrize("version", [1, 2, 3])
def test_our_analysis_shows_as_that_of_trino(started: tuple[str, Ask], version: int) -> None:
    """All types, partitioned by transforms; rows deleted by position (version 2) and by deletion vectors (3)."""
    address, ask = started
    table = f"t{version}"
    for line in TYPES.read_text().splitlines():
        ask(line.format(table=table, version=version))
    if version > 1:
        ask(f"DELETE FROM {table} WHERE l < 100 AND l % 2 = 0")
    assert counts(ask, table) == {}
    analyzed(address, table)
    ours = ask(f"SHOW STATS FOR {table}")
    assert [ndv is None for _, _, ndv, *_ in ours] == [False] * 14 + [True] * 2
    ask(f"ANALYZE {table}")
    assert ours == ask(f"SHOW STATS FOR {table}")


def test_an_evolved_table(started: tuple[str, Ask]) -> None:
    """A dropped column's sketch goes, though a new one has its name; a renamed column keeps its own."""
    address, ask = started
    ask("CREATE TABLE evolved AS SELECT a, a % 7 AS b, CAST(a % 9 AS varchar) AS c FROM UNNEST(sequence(1, 100)) q(a)")
    analyzed(address, "evolved")
    ask("ALTER TABLE evolved DROP COLUMN b")
    ask("ALTER TABLE evolved ADD COLUMN b bigint")
    ask("ALTER TABLE evolved RENAME COLUMN c TO d")
    ask("ALTER TABLE evolved SET PROPERTIES partitioning = ARRAY['truncate(d, 1)']")
    ask("INSERT INTO evolved (a, d, b) VALUES (1, 'new', 5)")
    analyzed(address, "evolved")
    assert counts(ask, "evolved") == {"a": 100, "d": 10, "b": 1}


def test_join_order_changes_and_inserts_unite(started: tuple[str, Ask]) -> None:
    address, ask = started
    rows = "UNNEST(sequence(0, 99)) q(a)"
    ask(f"CREATE TABLE fact AS SELECT a * 100 + b AS high, b % 5 AS low FROM {rows}, UNNEST(sequence(0, 99)) p(b)")
    ask("CREATE TABLE many AS SELECT a % 5 AS low, a AS m FROM UNNEST(sequence(0, 1999)) q(a)")
    ask(f"CREATE TABLE one AS SELECT a * 7 AS high, a AS o FROM {rows}")
    before = _join_order(ask)
    for table in ("fact", "many", "one"):
        analyzed(address, table)
    # Without counts as it is written; with them the join that keeps one row in hundred comes first.
    assert (before, _join_order(ask)) == (["fact", "many", "one"], ["many", "fact", "one"])
    ask("INSERT INTO one SELECT a * 7, a FROM UNNEST(sequence(50, 149)) q(a)", counted=True)
    assert counts(ask, "one") == {"high": 150, "o": 150}


def _join_order(ask: Ask) -> list[str]:
    """The tables in the order in which they are joined."""
    ((plan,),) = ask(f"EXPLAIN (TYPE LOGICAL) {JOIN}")
    return re.findall(r"table = iceberg:s\.(\w+)", plan)

"""Hive's own engine through a gateway: each statement answers as at the Hive Metastore of its release behind it.

What differs differs at an hmstats without a gateway too, or by the Hive's database.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.engines.gateway.upstreams import ON_MARIADB, in_front_of
from tests.engines.hive.test_hive_engine import EXPLAINED, Answers, difference, recorded
from tests.fixtures.databases.mariadb import mariadb
from tests.fixtures.databases.postgres import fresh_database
from tests.peers.hive_engine import record, run

pytestmark = [
    pytest.mark.engines,
    pytest.mark.hive,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Hive's engine comes from Maven, not found on this machine"),
]

SESSIONS = ("session", "session-statistics", "session-alters")
BY_MARIADB = {("session-statistics", "3.1"): {18}}
"""Statements about doubles beyond 1e49, which the Hive on MariaDB changes; the recorded one is on Derby."""


@contextmanager
def database(release: str, folder: Path, postgres_server: str) -> Iterator[str]:
    """The URL of an empty database for a Hive Metastore."""
    with ExitStack() as stack:
        if release == ON_MARIADB:
            folder.mkdir()
            yield stack.enter_context(mariadb(folder))
        else:
            yield stack.enter_context(fresh_database(postgres_server))


def answers(release: str, session: str, folder: Path, postgres_server: str) -> Answers:
    """The engine's answers through a gateway before a Hive Metastore, which has all statistics when they are marked."""
    with database(release, folder / "mariadb", postgres_server) as url, ExitStack() as stack:
        port, warehouse = stack.enter_context(record.metastore(folder, url, release))
        port = stack.enter_context(in_front_of(port, folder, writes="through"))
        statements = run.HERE / f"{session}.sql"
        return list(run.answers(f"thrift://127.0.0.1:{port}", warehouse, folder / "engine", statements, release))


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("release", ["3.1", "4.0"])
def test_every_statement_answers_as_without_the_gateway(
    release: str, session: str, postgres_server: str, tmp_path: Path
) -> None:
    expected, found = recorded(session, release), answers(release, session, tmp_path, postgres_server)
    assert len(expected) > 170
    explained = {number for numbers in EXPLAINED[session, release].values() for number in numbers}
    explained |= BY_MARIADB.get((session, release), set())
    differing = {
        number: (one["sql"], difference(one, other))
        for number, (one, other) in enumerate(zip(expected, found, strict=True), 1)
        if one != other
    }
    assert {number: lines for number, lines in differing.items() if number not in explained} == {}

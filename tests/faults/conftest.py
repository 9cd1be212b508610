"""Databases for servers that are made to suffer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.databases.postgres import fresh_database


@pytest.fixture
def postgres(postgres_server: str, postgres_template: str) -> Iterator[str]:
    """The URL of a database on PostgreSQL that is at the newest revision."""
    with fresh_database(postgres_server, postgres_template) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same, and that of an SQLite file that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/hmstats.sqlite"
    found: str = request.getfixturevalue("postgres")
    return found

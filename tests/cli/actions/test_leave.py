"""`hmstats leave`: what hmstats made in a Hive's database goes again, and nothing else changes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, create_engine, text
from tests.store.migration.test_only_ours import OWN, look, own_tables
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.errors import DatabaseTaken, FilesBusy, SchemaError, UpstreamUnavailable
from hmstats.model.catalog.file_changes import FileChange, Kind, Removal
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate
from hmstats.store.opening import open_store
from hmstats.store.storage import file_changes

NEWEST = pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)


def _leave(url: str, *arguments: str) -> str:
    result = CliRunner().invoke(app, ["leave", "--database", url, *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    engine = create_engine(database_url_of(url))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def fill(url: str) -> None:
    """A database with two parameters: one of ours, one of its owner's."""
    with connected(url) as connection:
        connection.execute(
            text("""INSERT INTO "DBS" ("DB_ID", "NAME", "DB_LOCATION_URI") VALUES (1, 'd', 'file:/d')""")
        )
        for key in ("hmstats.fingerprint", "hmstatsX"):
            values = {"key": key}
            connection.execute(text("""INSERT INTO "DATABASE_PARAMS" VALUES (1, :key, 'v')"""), values)


def parameters(url: str) -> set[str]:
    with connected(url) as connection:
        return set(connection.execute(text('SELECT "PARAM_KEY" FROM "DATABASE_PARAMS"')).scalars())


def test_a_report_changes_nothing(hive_database: str) -> None:
    migrate.adopt(hive_database)
    before = look(hive_database)
    report = json.loads(_leave(hive_database, "--json"))
    assert (set(report["tables"]), report["removed"]) == (OWN, False)
    assert "--write removes this; nothing was changed" in _leave(hive_database)
    assert (own_tables(hive_database), look(hive_database)) == (OWN, before)


def test_our_own_tables_go(hive_database: str) -> None:
    before = look(hive_database)
    migrate.adopt(hive_database)
    assert _leave(hive_database, "--write").endswith("removed\n")
    assert (own_tables(hive_database), look(hive_database)) == (set(), before)
    assert _leave(hive_database, "--write").endswith("nothing of hmstats is there\n")
    migrate.adopt(hive_database)
    assert own_tables(hive_database) == OWN


@NEWEST
def test_parameters_of_others_stay(hive_database: str) -> None:
    migrate.adopt(hive_database)
    fill(hive_database)
    assert "parameters hmstats.* in DATABASE_PARAMS: 1\n" in _leave(hive_database, "--write")
    assert parameters(hive_database) == {"hmstatsX"}


@NEWEST
def test_a_server_that_writes_is_in_the_way(hive_database: str) -> None:
    migrate.adopt(hive_database)
    store = open_store(hive_database, pool_size=1, statement_seconds=30.0)
    store.write(lambda unit: unit.connection.execute(text("SELECT 1")))
    with pytest.raises(DatabaseTaken, match="is in use by a server of hmstats: stop it first"):
        _leave(hive_database, "--write")
    store.close()
    assert own_tables(hive_database) == OWN


@NEWEST
def test_an_unfinished_change_of_directories_is_in_the_way(hive_database: str) -> None:
    migrate.adopt(hive_database)
    change = FileChange(7, 1, Kind.REMOVE, "table d.t", ("file:/d/t",), Removal(("file:/d/t",)))
    store = open_store(hive_database, pool_size=1, statement_seconds=30.0)
    store.write(lambda unit: file_changes.begin_removal(unit, change))
    store.close()
    expected = "table HMSTATS_FILE_CHANGE .* remove of table d.t; start a server once so that it settles them"
    with pytest.raises(FilesBusy, match=expected):
        _leave(hive_database, "--write")
    assert own_tables(hive_database) == OWN
    with connected(hive_database) as connection:
        assert file_changes.pending(connection) == [change]
        connection.execute(text('DELETE FROM "HMSTATS_FILE_CHANGE"'))
    assert _leave(hive_database, "--write").endswith("removed\n")


def test_a_database_of_ours_is_not_left(database_url: str) -> None:
    migrate.upgrade(database_url)
    with pytest.raises(SchemaError, match=r"is hmstats' own: take the statistics out with `hmstats export`"):
        _leave(database_url, "--write")


@pytest.mark.parametrize("more", [[], ["--write"]])
def test_nobody_is_sent_to_an_upstream_that_is_away(sqlite_url: str, more: list[str]) -> None:
    upstream = "thrift://127.0.0.1:1"
    result = CliRunner().invoke(app, ["leave", "--database", sqlite_url, "--upstream", upstream, *more])
    assert isinstance(result.exception, UpstreamUnavailable)
    assert "127.0.0.1:1" in str(result.exception)
    assert "clients may use" not in result.stdout

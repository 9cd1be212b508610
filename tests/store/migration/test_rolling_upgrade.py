"""A database that is migrated while servers of the version before serve it, and what each then says to the other.

The next migration is not written yet; one that does what migrations may do stands for it.
"""

from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from structlog.testing import capture_logs
from tests.faults.harness.worker_processes import metastore_of
from tests.faults.harness.writers import go_on, writing
from tests.fixtures.servers import serving

from hmstats.errors import SchemaError, StoreUnavailable
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.migration import migrate, schema_revision
from hmstats.store.schema import METADATA

OWN = schema_revision.head()
NEXT, AFTER, BEFORE = (f"{int(OWN) + step:04d}" for step in (1, 2, -1))

_REPEATS = 4


def migrate_to_next(url: str) -> None:
    """What the next version's migration may do: a table of its own, and a column more in every table that there is."""

    def work(connection: Connection) -> None:
        connection.execute(text('CREATE TABLE "HMSTATS_OF_NEXT" ("A" BIGINT)'))
        for table in METADATA.tables:
            connection.execute(text(f'ALTER TABLE "{table}" ADD COLUMN "HMSTATS_OF_NEXT" BIGINT DEFAULT 7'))

    migrate.in_one_migration(url, work)
    set_revision(url, NEXT)


def migrate_as_an_operator(url: str) -> None:
    """Migrate, again if it lost against writers that hold its tables' locks: then nothing of it is left.

    A lock on every table at once meets more writers than the migrations of releases, which lock a few.
    """
    for _ in range(_REPEATS):
        try:
            migrate_to_next(url)
        except StoreUnavailable as error:
            if "deadlock detected" not in str(error):
                raise
        else:
            return
    migrate_to_next(url)


def set_revision(url: str, revision: str) -> None:
    """Say that a database is at a revision."""
    engine = create_engine(database_url_of(url))
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE \"{schema_revision.VERSION_TABLE}\" SET version_num = '{revision}'"))
    engine.dispose()


def require(url: str) -> None:
    """Ask whether a server of this version would start."""
    store = Store.open(url)
    try:
        schema_revision.require_current(store)
    finally:
        store.close()


@pytest.mark.slow
def test_a_server_starts_on_a_database_one_revision_newer(database_url: str, tmp_path: Path) -> None:
    migrate_to_next(database_url)
    with serving(tmp_path, database=database_url) as port, metastore_of(port) as metastore:
        with writing(metastore, 1) as (writer,):
            go_on([writer])
        writer.check()
        assert not writer.refusals
    assert '"schema_is_newer"' in (tmp_path / "server.log").read_text()
    assert schema_revision.current(database_url) == NEXT


@pytest.mark.slow
def test_a_server_goes_on_while_its_database_is_migrated(postgres_url: str, tmp_path: Path) -> None:
    with (
        serving(tmp_path, database=postgres_url) as port,
        metastore_of(port) as metastore,
        writing(metastore, 2) as writers,
    ):
        go_on(writers)
        migrate_as_an_operator(postgres_url)
        go_on(writers)
        for writer in writers:
            writer.check()
            assert not writer.refusals


def test_it_is_said_that_the_schema_is_newer(database_url: str) -> None:
    set_revision(database_url, NEXT)
    with capture_logs() as log:
        require(database_url)
    (line,) = [each for each in log if each["event"] == "schema_is_newer"]
    assert (line["log_level"], line["found"], line["own"]) == ("warning", NEXT, OWN)


def test_no_server_starts_on_a_database_two_revisions_newer(database_url: str) -> None:
    set_revision(database_url, AFTER)
    with pytest.raises(SchemaError, match=rf"has schema {AFTER}, .* needs {OWN}: a newer version of hmstats made it"):
        require(database_url)
    with pytest.raises(SchemaError, match="cannot be migrated"):
        migrate.upgrade(database_url)


def test_no_server_starts_on_a_database_one_revision_older(database_url: str) -> None:
    migrate.downgrade(database_url, BEFORE)
    with pytest.raises(SchemaError, match=rf"has schema {BEFORE}, .* needs {OWN}: run `hmstats migrate"):
        require(database_url)
    migrate.upgrade(database_url)
    require(database_url)


def test_upgrading_leaves_a_newer_database_alone(database_url: str) -> None:
    set_revision(database_url, NEXT)
    migrate.upgrade(database_url)
    assert schema_revision.current(database_url) == NEXT


@pytest.mark.slow
def test_a_migration_waits_for_no_table_for_long(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for a lock holds up all who come later, so it gives up, and tries again."""
    monkeypatch.setattr(migrate, "_LOCK_SECONDS", 0.05)
    migrate.downgrade(postgres_url, "0003")  # 0004 has a foreign key to TBLS
    engine = create_engine(database_url_of(postgres_url))
    with engine.connect() as other:
        other.execute(text('LOCK TABLE "TBLS" IN ROW EXCLUSIVE MODE'))
        with pytest.raises(Exception, match=r"after 8 tries: .*lock timeout"):
            migrate.upgrade(postgres_url)
        assert schema_revision.current(postgres_url) == "0003"
        other.rollback()
    engine.dispose()
    migrate.upgrade(postgres_url)
    require(postgres_url)

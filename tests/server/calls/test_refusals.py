"""What a server refuses that only reads, or that is beside a Hive."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.databases.hive_schemas import adopted_database
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.errors import MetaError
from hmstats.server.calls.call_kinds import CHANGES, OF_THE_SESSION, READS
from hmstats.server.calls.refusals import with_refusals
from hmstats.store.beside_hive.present_tables import Shape
from hmstats.store.database.store import Store
from hmstats.store.database.store import database_url as database_url_of
from hmstats.store.schema import METADATA
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods

READ = {  # a sample
    "get_table_req",
    "get_statistics",
    "get_partitions_by_names",
    "show_locks",
    "list_roles",
    "fetch_partition_names_req",
}
CHANGED = {"create_table", "set_statistics", "add_token", "lock", "alter_table_req", "markPartitionForEvent"}
BEGINNINGS = ("add_", "alter_", "create_", "drop_", "update_", "delete_", "grant_", "revoke_", "append_", "truncate_")


def _refused(sqlite_url: str, *, read_only: bool, shape: Shape | None = None) -> set[str]:
    """The calls that a server refuses, each of which says its name."""
    store = Store.open(sqlite_url, read_only=read_only)
    store.shape = shape or store.shape
    refused: dict[str, str] = {}
    for name, call in with_refusals({name: lambda: None for name in methods()}, store).items():
        try:
            call()
        except MetaError as error:
            refused[name] = str(error)
    store.close()
    assert all(said.startswith(f"{name} is refused: ") for name, said in refused.items())
    return set(refused)


def test_every_call_that_changes_something_is_refused(sqlite_url: str) -> None:
    refused = _refused(sqlite_url, read_only=True)
    assert refused >= CHANGED | {name for name in methods() if name.startswith(BEGINNINGS)}
    assert not refused & READ
    assert _refused(sqlite_url, read_only=False) == set()


def test_every_call_has_one_kind() -> None:
    kinds = (READS, CHANGES, OF_THE_SESSION)
    assert sorted(name for kind in kinds for name in kind) == sorted(methods())


def test_a_store_that_only_reads_writes_nothing(sqlite_url: str) -> None:
    store = Store.open(sqlite_url, read_only=True)
    with pytest.raises(MetaError, match="is opened read-only by this server"):
        store.write(lambda _: None)
    store.close()


def test_hive_keeps_locks_and_transactions(sqlite_url: str) -> None:
    newest = _refused(sqlite_url, read_only=False, shape=Shape("4.0.0"))
    assert newest >= {"lock", "open_txns", "commit_txn", "allocate_table_write_ids"}
    assert not newest & {"get_open_txns", "get_valid_write_ids", "show_locks", "create_table"}
    older = _refused(sqlite_url, read_only=False, shape=Shape("3.1.0", frozenset({"TXNS"})))
    assert older >= {*newest, "get_open_txns", "get_valid_write_ids", "show_locks"}
    assert "create_table" not in older


@pytest.fixture(params=["ours", "2.3", "4.0"])
def filled(request: pytest.FixtureRequest, postgres_server: str, tmp_path: Path) -> Iterator[str]:
    """A database with a table and its statistics: of ours, and of Hives in which nothing of ours is left."""
    if request.param == "ours":
        database = fresh_database(postgres_server, request.getfixturevalue("postgres_template"))
    else:
        database = adopted_database(postgres_server, request.getfixturevalue("hive_templates")[request.param])
    with database as url:
        (tmp_path / "writer").mkdir()
        with serving(tmp_path / "writer", "--workers", "1", database=url) as port:
            metastore = Metastore("hmstats-writer", port, 4.0, "d")
            with metastore.clients:
                metastore.client().create_database(api.Database(name="d", description="", parameters={}))
                metastore.table()
                metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
        if request.param != "ours":
            ours = ", ".join(f'"{name}"' for name in METADATA.tables if name.startswith("HMSTATS_"))
            _execute(url, f'DROP TABLE {ours}, "HMSTATS_ALEMBIC_VERSION"')
        yield url


@contextmanager
def _reader(url: str) -> Iterator[str]:
    """The database as a user sees it who may read its tables and nothing else."""
    name = f"reader_{secrets.token_hex(4)}"
    _execute(
        url,
        f"CREATE ROLE {name} LOGIN PASSWORD '{name}'",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}",
    )
    try:
        yield make_url(url).set(username=name, password=name).render_as_string(hide_password=False)
    finally:
        _execute(url, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def _execute(url: str, *statements: str) -> None:
    engine = create_engine(database_url_of(url))
    with engine.begin() as connection:
        for each in statements:
            connection.execute(text(each))
    engine.dispose()


def _rows(url: str) -> dict[str, int]:
    engine = create_engine(database_url_of(url))
    with engine.connect() as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        found = {name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one() for name in names}
    engine.dispose()
    return found


@pytest.mark.slow
def test_a_user_that_may_only_read_is_enough_to_serve_readers(filled: str, tmp_path: Path) -> None:
    before = _rows(filled)
    (tmp_path / "reader").mkdir()
    with _reader(filled) as url, serving(tmp_path / "reader", "--workers", "1", "--read-only", database=url) as port:
        metastore = Metastore("hmstats-reader", port, 4.0, "d")
        with metastore.clients:
            assert metastore.read_table().tableName == "t"
            assert of_table(metastore, "l")["l"].longStats.numDVs == 5
            with pytest.raises(api.MetaException) as refused:
                metastore.client().create_database(api.Database(name="other", description="", parameters={}))
            assert refused.value.message == "create_database is refused: this server is read-only"
            with pytest.raises(api.MetaException, match="update_table_column_statistics is refused"):
                metastore.client().update_table_column_statistics(statistics(metastore, statistics_of("l")))
    assert _rows(filled) == before

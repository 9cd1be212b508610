import sqlite3
import threading

import pytest
from sqlalchemy import func, select, text

from hmstats.errors import SettingsError
from hmstats.store.connections import connections
from hmstats.store.connections.connections import database_url
from hmstats.store.database.store import Store


@pytest.mark.parametrize("url", ["postgres://h/d", "postgresql://h/d", "postgresql+asyncpg://h/d"])
def test_every_name_of_postgresql_means_one_driver(url: str) -> None:
    assert database_url(url).drivername == "postgresql+psycopg2"
    assert (database_url(url).host, database_url(url).database) == ("h", "d")


def test_a_file_is_an_sqlite_database() -> None:
    assert database_url("sqlite:///a/b.sqlite").database == "a/b.sqlite"


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="an SQLite database must be a file, since several threads share it"):
        Store.open(url)


def test_an_old_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(SettingsError, match=r"this Python's SQLite must be 3\.35 or newer, found 3\.34\.1: another"):
        database_url("sqlite:///a.sqlite")
    assert database_url("postgresql://h/d").host == "h"


@pytest.mark.parametrize("url", ["mysql://h/d", "oracle://u:secret@h/d"])
def test_another_kind_of_database_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match=r"must be sqlite:///FILE or postgresql://\.\.\., found (mysql|oracle)"):
        Store.open(url)


def test_a_password_with_a_sign_of_its_own_is_refused_without_showing_it() -> None:
    with pytest.raises(SettingsError, match="must be a URL with one @, found more: a password has %40") as refused:
        Store.open("postgresql://u:sec@ret@h/d")
    assert "ret" not in str(refused.value)
    assert database_url("postgresql://u:sec%40ret@h/d").password == "sec@ret"


@pytest.mark.parametrize("url", ["", "metastore.sqlite", "postgresql://u:secret@h:port/d"])
def test_a_text_that_is_no_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(SettingsError, match="must be a URL such as sqlite:///FILE") as refused:
        Store.open(url)
    assert "secret" not in str(refused.value)


def test_sqlite_keeps_foreign_keys_and_a_log_that_readers_do_not_wait_for(sqlite_url: str) -> None:
    store = Store.open(sqlite_url)
    with store.read() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar_one() == 1
    store.close()


def test_postgresql_reads_one_snapshot_for_reading_only(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    with store.read() as connection:
        assert connection.execute(text("SHOW transaction_isolation")).scalar_one() == "repeatable read"
        assert connection.execute(text("SHOW transaction_read_only")).scalar_one() == "on"
        assert connection.execute(text("SHOW application_name")).scalar_one() == "hmstats"
    isolation = store.write(lambda unit: unit.connection.execute(text("SHOW transaction_isolation")).scalar_one())
    assert isolation == "read committed"
    store.close()


@pytest.mark.parametrize("trusted_seconds", [0.0, 3_600.0])
def test_connections_that_broke_while_idle_are_replaced_unnoticed(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, trusted_seconds: float
) -> None:
    """Those that are tried, and those whose end the database announced."""
    monkeypatch.setattr(connections, "_UNTESTED_IDLE_SECONDS", trusted_seconds)
    store, killer = Store.open(postgres_url), Store.open(postgres_url)
    both_taken = threading.Barrier(3)
    pids = set[int]()

    def take() -> None:
        with store.read() as connection:
            pids.add(connection.execute(select(func.pg_backend_pid())).scalar_one())
            both_taken.wait()

    threads = [threading.Thread(target=take) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 3
    kill = [func.pg_terminate_backend(pid, 5_000) for pid in pids]
    killer.write(lambda unit: unit.connection.execute(select(*kill)))
    for _ in range(3):
        with store.read() as connection:
            assert connection.execute(select(func.pg_backend_pid())).scalar_one() not in pids
    store.close()
    killer.close()

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, bindparam, func, insert, select, text, update
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import AlreadyExists, MetaError, StoreUnavailable
from hmstats.store.database.store import Store
from hmstats.store.schema import CTLGS, DBS, HMSTATS_TABLE_VERSION, SEQUENCE_TABLE
from hmstats.store.statements.single_read import SingleRead
from hmstats.store.unit.unit import Unit

VERSIONS = HMSTATS_TABLE_VERSION


def _put(connection: Connection, table_id: int, version: int = 1) -> None:
    connection.execute(insert(VERSIONS), {"TBL_ID": table_id, "VERSION": version})


def _put_one(unit: Unit, table_id: int) -> None:
    _put(unit.connection, table_id)


def _add(connection: Connection, table_id: int, count: int = 1) -> None:
    row = VERSIONS.c.TBL_ID == table_id
    connection.execute(update(VERSIONS).where(row).values(VERSION=VERSIONS.c.VERSION + count))


def _versions(store: Store) -> dict[int, int]:
    with store.read() as connection:
        return {row.TBL_ID: row.VERSION for row in connection.execute(select(VERSIONS))}


def _kill(url: str, pid: int) -> None:
    """Break a connection from the database's side, and wait until it is gone."""
    killer = Store.open(url, pool_size=1)
    killer.write(lambda unit: unit.connection.execute(select(func.pg_terminate_backend(pid, 5_000))))
    killer.close()


def _pid(connection: Connection) -> int:
    return int(connection.execute(select(func.pg_backend_pid())).scalar_one())


def _together(count: int, work: Callable[[int], None]) -> None:
    """Run `work(0)` to `work(count - 1)` in threads at once; raises what one of them raises."""
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(work, range(count)))


ALL_VERSIONS = SingleRead(
    lambda _: select(VERSIONS.c.VERSION).where(VERSIONS.c.TBL_ID > bindparam("above")).order_by(VERSIONS.c.TBL_ID)
)


def _all_versions(store: Store, above: int = 0) -> list[int]:
    return [version for (version,) in store.rows(ALL_VERSIONS, {"above": above})]


def test_rows_are_read_without_a_transaction(store: Store, statements: StatementCounter) -> None:
    store.write(lambda unit: _put_one(unit, 1))
    with statements() as sent:
        assert _all_versions(store) == [1]
        assert _all_versions(store, above=1) == []
    assert not sent  # they pass by the engine's events


def test_rows_are_of_the_snapshot_that_has_begun(store: Store) -> None:
    store.write(lambda unit: _put_one(unit, 1))
    with store.one_snapshot():
        assert _all_versions(store) == [1]
        store.write(lambda unit: _put_one(unit, 2))
        assert _all_versions(store) == [1, 1], "nothing was read in the snapshot yet"
        assert len(_versions(store)) == 2
        store.write(lambda unit: _put_one(unit, 3))
        assert _all_versions(store) == [1, 1]
    assert _all_versions(store) == [1, 1, 1]


def test_rows_are_of_a_change_that_is_only_tried(store: Store) -> None:
    assert store.try_change(lambda unit: _put_one(unit, 1), lambda: _all_versions(store)) == [1]
    assert _all_versions(store) == []


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_a_write_returns_what_the_work_returns_and_is_seen_by_readers(store: Store) -> None:
    def work(unit: Unit) -> str:
        _put(unit.connection, 7)
        return "done"

    assert store.write(work) == "done"
    assert _versions(store) == {7: 1}


def test_an_error_of_the_work_undoes_all_of_it_and_is_raised_as_it_is(store: Store) -> None:
    calls = []

    def work(unit: Unit) -> None:
        calls.append(1)
        _put(unit.connection, 1)
        raise AlreadyExists("table a.b exists")

    with pytest.raises(AlreadyExists, match=r"table a\.b exists"):
        store.write(work)
    assert calls == [1]
    assert _versions(store) == {}


def test_a_refused_statement_undoes_what_came_before_it(store: Store) -> None:
    def work(unit: Unit) -> None:
        _put(unit.connection, 1)
        unit.connection.execute(text("SELECT no_such_column FROM no_such_table"))

    with pytest.raises(MetaError, match=r"refuses the statement: .*no_such") as refused:
        store.write(work)
    assert not isinstance(refused.value, StoreUnavailable)
    assert _versions(store) == {}


def test_the_time_of_a_unit_is_the_clocks_in_whole_seconds(database_url: str) -> None:
    store = Store.open(database_url, clock=lambda: 1_700_000_000.9)
    assert store.write(lambda unit: unit.now_seconds) == 1_700_000_000
    store.close()


def test_a_read_sees_one_snapshot_while_others_write(store: Store) -> None:
    store.write(lambda unit: _put(unit.connection, 1))
    with store.read() as connection:
        query = select(func.count()).select_from(VERSIONS)
        before = connection.execute(query).scalar_one()
        store.write(lambda unit: _put(unit.connection, 2))
        assert connection.execute(query).scalar_one() == before == 1
    assert len(_versions(store)) == 2


def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises(MetaError, match=r"read-?only"), store.read() as connection:
        _put(connection, 1)
    assert _versions(store) == {}


def test_a_read_goes_on_while_a_writer_holds_its_transaction(store: Store) -> None:
    def work(unit: Unit) -> dict[int, int]:
        _put(unit.connection, 1)
        return _versions(store)

    assert store.write(work) == {}


def test_a_read_of_one_statement_sends_one_statement(store: Store, statements: StatementCounter) -> None:
    _versions(store)
    with statements() as sent:
        _versions(store)
    assert len(sent) == 1


def test_an_insert_of_many_rows_is_one_statement(store: Store, statements: StatementCounter) -> None:
    rows = [{"TBL_ID": number, "VERSION": 1} for number in range(1_000)]
    with statements() as sent:
        store.write(lambda unit: unit.connection.execute(insert(VERSIONS), rows))
    assert len(sent) == 1
    assert len(_versions(store)) == 1_000


def test_many_threads_add_to_one_row_and_none_is_lost(store: Store) -> None:
    store.write(lambda unit: _put(unit.connection, 1, 0))

    def work(_: int) -> None:
        for _ in range(20):
            store.write(lambda unit: _add(unit.connection, 1))

    _together(6, work)
    assert _versions(store) == {1: 120}


def test_a_writer_that_reads_before_it_writes_loses_nothing(sqlite_url: str) -> None:
    store = Store.open(sqlite_url)
    store.write(lambda unit: _put(unit.connection, 1, 0))

    def read_then_write(unit: Unit) -> None:
        found = unit.connection.execute(select(VERSIONS.c.VERSION)).scalar_one()
        unit.connection.execute(update(VERSIONS).values(VERSION=found + 1))

    def work(_: int) -> None:
        for _ in range(20):
            store.write(read_then_write)

    _together(4, work)
    assert _versions(store) == {1: 80}
    store.close()


@pytest.mark.slow
def test_a_deadlock_is_tried_again_until_both_writers_are_done(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    for table_id in (1, 2):
        store.write(partial(_put_one, table_id=table_id))
    both_hold_one, calls = threading.Barrier(2), list[int]()

    def writer(number: int) -> None:
        first, second = (1, 2) if number == 0 else (2, 1)
        tried = []

        def work(unit: Unit) -> None:
            calls.append(number)
            tried.append(1)
            _add(unit.connection, first, 10)
            if len(tried) == 1:
                both_hold_one.wait()
            _add(unit.connection, second, 1)

        store.write(work)

    _together(2, writer)
    assert _versions(store) == {1: 12, 2: 12}
    assert len(calls) in (3, 4), "one of the two was tried again, or both when both were told"
    store.close()


def test_a_race_for_a_name_is_tried_again_so_that_the_work_can_see_it(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    looked = threading.Barrier(2)
    rows = [{"CTLG_ID": number, "NAME": "same", "LOCATION_URI": "x"} for number in (10, 11)]

    def writer(number: int) -> str:
        tried = []

        def work(unit: Unit) -> str:
            tried.append(1)
            taken = unit.connection.execute(select(CTLGS.c.CTLG_ID).where(CTLGS.c.NAME == "same")).all()
            if len(tried) == 1:
                looked.wait()
            if taken:
                raise AlreadyExists("catalog same exists")
            unit.connection.execute(insert(CTLGS), rows[number])
            return "made"

        try:
            return store.write(work)
        except AlreadyExists as error:
            return str(error)

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(writer, range(2))) == ["catalog same exists", "made"]
    store.close()


def test_a_parent_that_is_always_absent_is_given_up(database_url: str) -> None:
    pauses = list[float]()
    store = Store.open(database_url, sleep=pauses.append)
    row = {"DB_ID": 1, "NAME": "d", "CTLG_NAME": "absent", "DB_LOCATION_URI": "x"}
    with pytest.raises(MetaError, match="refuses the change"):
        store.write(lambda unit: unit.connection.execute(insert(DBS), row))
    assert len(pauses) == (0 if store.name.startswith("sqlite") else 2)
    assert pauses == [pytest.approx(0.02, abs=0.04) for _ in pauses]
    store.close()


def test_a_connection_lost_before_the_commit_is_tried_again_once(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    tried = []

    def work(unit: Unit) -> int:
        tried.append(1)
        _put(unit.connection, len(tried))
        if len(tried) == 1:
            _kill(postgres_url, _pid(unit.connection))
        _put(unit.connection, 100)
        return len(tried)

    assert store.write(work) == 2
    assert _versions(store) == {2: 1, 100: 1}
    store.close()


def test_a_connection_lost_again_and_again_is_said(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    tried = []

    def work(unit: Unit) -> None:
        tried.append(1)
        _kill(postgres_url, _pid(unit.connection))
        _put(unit.connection, 1)

    with pytest.raises(StoreUnavailable, match="does not answer after 2 tries"):
        store.write(work)
    assert tried == [1, 1]
    assert _versions(store) == {}
    store.close()


def test_a_connection_lost_in_the_commit_is_not_tried_again(postgres_url: str) -> None:
    store = Store.open(postgres_url)
    tried = []

    def work(unit: Unit) -> None:
        tried.append(1)
        _put(unit.connection, 1)
        _kill(postgres_url, _pid(unit.connection))

    with pytest.raises(StoreUnavailable, match="lost during the commit"):
        store.write(work)
    assert tried == [1]
    assert _versions(store) == {}, "here the database had not committed"
    store.close()


def test_a_database_that_is_away_is_named_without_its_password(closed_port: int) -> None:
    store = Store.open(f"postgresql://someone:secret@127.0.0.1:{closed_port}/metastore")
    with pytest.raises(StoreUnavailable) as written:
        store.write(lambda unit: _put(unit.connection, 1))
    with pytest.raises(StoreUnavailable):
        _all_versions(store)
    with pytest.raises(StoreUnavailable) as read:
        _versions(store)
    for said in (str(written.value), str(read.value)):
        assert said.startswith(f"database postgresql://someone:***@127.0.0.1:{closed_port}/metastore does not")
        assert "Connection refused" in said
        assert "secret" not in said
    store.close()


def test_an_sqlite_file_in_no_folder_is_named(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/no/such/folder.sqlite")
    with pytest.raises(StoreUnavailable, match=r"folder\.sqlite does not answer: unable to open database file"):
        _versions(store)
    store.close()


def test_a_statement_over_its_time_is_given_up(postgres_url: str) -> None:
    store = Store.open(postgres_url, statement_seconds=0.2)
    with pytest.raises(StoreUnavailable, match="statement timeout"), store.read() as connection:
        connection.execute(select(func.pg_sleep(30)))
    assert _versions(store) == {}
    store.close()


def test_a_writer_that_waits_too_long_for_another_is_given_up(database_url: str) -> None:
    store, other = Store.open(database_url, statement_seconds=0.2), Store.open(database_url)
    store.write(lambda unit: _put(unit.connection, 1))

    def while_another_holds_it(unit: Unit) -> None:
        _add(unit.connection, 1)
        with pytest.raises(StoreUnavailable, match="does not answer"):
            store.write(lambda second: _add(second.connection, 1, 100))

    other.write(while_another_holds_it)
    assert _versions(store) == {1: 2}
    store.close()
    other.close()


def test_a_read_waits_for_a_free_connection_only_so_long(database_url: str) -> None:
    store = Store.open(database_url, pool_size=1, statement_seconds=0.2)
    with store.read(), pytest.raises(StoreUnavailable, match=r"does not answer.*QueuePool limit of size 1"):
        _versions(store)
    assert _versions(store) == {}
    store.close()


def test_errors_leave_no_connection_taken(database_url: str) -> None:
    store = Store.open(database_url, pool_size=1, statement_seconds=2)

    def fail(unit: Unit) -> None:
        _put(unit.connection, 1)
        raise AlreadyExists("taken")

    for _ in range(5):
        with pytest.raises(AlreadyExists):
            store.write(fail)
        with pytest.raises(MetaError), store.read() as connection:
            connection.execute(text("SELECT nonsense"))
    store.write(lambda unit: unit.connection.execute(select(SEQUENCE_TABLE)).all())
    assert _versions(store) == {}
    store.close()


def test_what_is_not_to_be_kept_is_undone(store: Store) -> None:
    def work(unit: Unit) -> int:
        _put_one(unit, 1)
        unit.queue(f'DELETE FROM "{VERSIONS.name}"', [])
        return 5

    store.write(partial(_put_one, table_id=2))
    assert store.write(work, keep=lambda result: result != 5) == 5
    assert _versions(store) == {2: 1}
    store.write(partial(_put_one, table_id=3), keep=lambda result: result is None)
    assert _versions(store) == {2: 1, 3: 1}

"""The log in the database: numbered without a gap in the order of commits, read by choice, and cleaned."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal

import pytest
from sqlalchemy import delete
from tests.fixtures.databases.statements import StatementCounter
from tests.store.catalog_values import TABLE

from hmstats.model.events import Event, Logged, Notification, NotificationFilter, TableCreated, TableDropped
from hmstats.store.changes import notifications
from hmstats.store.database.store import Store
from hmstats.store.schema import NOTIFICATION_SEQUENCE
from hmstats.store.unit.unit import Unit


def noted(text: str = "{}", kind: str = "CREATE_TABLE", table: str | None = "t") -> Notification:
    return Notification(kind, "hive", "d", table, text, "json-0.2")


def append(store: Store, *texts: str) -> list[int]:
    return list(store.write(lambda unit: notifications.append(unit, [noted(each) for each in texts])))


def listed(store: Store, wanted: NotificationFilter | None = None, limit: int | None = None) -> list[Logged]:
    with store.read() as connection:
        return notifications.read(connection, wanted or NotificationFilter(after=0), limit)


def ids(store: Store, wanted: NotificationFilter | None = None, limit: int | None = None) -> list[int]:
    return [each.id for each in listed(store, wanted, limit)]


def current(store: Store) -> int:
    with store.read() as connection:
        return notifications.current_id(connection)


def test_notifications_are_numbered_from_one(store: Store) -> None:
    assert (current(store), append(store)) == (0, [])
    assert append(store, "a", 'b"\\{}é', "c") == [1, 2, 3]
    assert append(store, "d") == [4]
    assert [each.notification.message for each in listed(store)] == ["a", 'b"\\{}é', "c", "d"]
    assert current(store) == 4


def test_what_was_written_comes_back_whole(store: Store) -> None:
    database = Notification("CREATE_DATABASE", "hive", "d", None, "x" * 100_000, "json-0.2")
    store.write(lambda unit: notifications.append(unit, [database, noted()]))
    assert [each.notification for each in listed(store)] == [database, noted()]


def test_a_unit_that_fails_takes_no_number(store: Store) -> None:
    def fail(unit: Unit) -> None:
        notifications.append(unit, [noted()])
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.write(fail)
    assert append(store, "a") == [1]


def test_the_sequence_is_made_where_it_has_no_row(store: Store) -> None:
    store.write(lambda unit: unit.connection.execute(delete(NOTIFICATION_SEQUENCE)))
    assert current(store) == 0
    assert append(store, "a", "b") == [1, 2]
    assert append(store, "c") == [3]


def test_readers_choose(store: Store) -> None:
    given = [noted("", kind, table) for kind, table in (("A", "t"), ("B", "u"), ("A", None), ("C", "t"))]
    store.write(lambda unit: notifications.append(unit, given))
    assert ids(store, NotificationFilter(after=1), 2) == [2, 3]
    assert ids(store, NotificationFilter(after=1, until=2)) == [2]
    assert ids(store, NotificationFilter(after=0, tables=["t"])) == [1, 4]
    assert ids(store, NotificationFilter(after=0, types=["A", "C"], tables=["t", "u"])) == [1, 4]
    assert ids(store, NotificationFilter(after=0, other_types=["A"])) == [2, 4]
    assert ids(store, NotificationFilter(after=0, catalog="hive", database="d")) == [1, 2, 3, 4]
    assert (
        ids(store, NotificationFilter(after=0, database="e"))
        == ids(store, NotificationFilter(after=0, catalog="other"))
        == []
    )
    with store.read() as connection:
        assert notifications.count(connection, NotificationFilter(after=1, tables=["t"])) == 1


def remove_older(store: Store, before_seconds: int) -> int:
    return store.write(lambda unit: notifications.remove_older(unit, before_seconds))


def test_only_the_old_beginning_is_removed_and_numbers_go_on(database_url: str) -> None:
    now = [100.0]
    store = Store.open(database_url, clock=lambda: now[0])
    for seconds in (100, 200, 50, 300):
        now[0] = seconds
        append(store, "")
    assert remove_older(store, 100) == 0
    assert (remove_older(store, 101), ids(store)) == (1, [2, 3, 4])
    assert (remove_older(store, 300), ids(store)) == (2, [4])
    assert (remove_older(store, 1000), ids(store), current(store)) == (1, [], 4)
    assert append(store, "") == [5]
    store.close()


def test_many_are_removed_by_the_thousand(store: Store) -> None:
    append(store, *["x"] * 1_500)
    assert [remove_older(store, 2**31) for _ in range(3)] == [1_000, 500, 0]


@pytest.fixture
def logging(store: Store) -> Store:
    """A store that keeps a log whose messages are the events' classes."""
    store.enable_log(lambda event, now: noted(f"{type(event).__name__} {now}"))
    return store


CREATED, DROPPED = TableCreated(TABLE), TableDropped(TABLE)


def messages(store: Store) -> list[str]:
    return [each.notification.message.split()[0] for each in listed(store)]


def test_what_a_unit_records_is_written_at_its_end(logging: Store) -> None:
    def work(unit: Unit) -> int:
        unit.record(CREATED)
        unit.record(DROPPED, CREATED)
        with logging.read() as connection:
            return notifications.current_id(connection)

    assert logging.write(work) == 0
    assert messages(logging) == ["TableCreated", "TableDropped", "TableCreated"]


def test_a_unit_may_ask_for_the_ids_of_its_events(logging: Store) -> None:
    def work(unit: Unit) -> tuple[range, range]:
        unit.record(CREATED, DROPPED)
        return logging.log(unit), logging.log(unit)

    assert logging.write(work) == (range(1, 3), range(0))
    assert messages(logging) == ["TableCreated", "TableDropped"]


def test_large_messages_are_written_in_batches(store: Store, statements: StatementCounter) -> None:
    store.enable_log(lambda event, now: noted("x" * 1_500_000))
    store.write(lambda unit: unit.record(CREATED))
    with statements() as sent:
        store.write(lambda unit: unit.record(*[CREATED] * 7))
    assert len(sent) == (9 if "sqlite" in store.name else 3)
    assert ids(store) == list(range(1, 9))


def test_without_a_log_nothing_is_recorded(store: Store) -> None:
    def work(unit: Unit) -> tuple[list[Event] | None, range]:
        unit.record(CREATED)
        return unit.events, store.log(unit)

    assert store.write(work) == (None, range(0))
    assert listed(store) == []


def test_events_of_a_unit_are_one_statement_on_postgres(logging: Store, statements: StatementCounter) -> None:
    logging.write(lambda unit: unit.record(CREATED))
    with statements() as sent:
        logging.write(lambda unit: unit.record(*[CREATED] * 100))
    sqlite = "sqlite" in logging.name
    assert len(sent) == (3 if sqlite else 1), sent


@pytest.fixture
def postgres_store(postgres_url: str) -> Iterator[Store]:
    opened = Store.open(postgres_url)
    yield opened
    opened.close()


def test_a_later_event_waits_for_the_commit_of_an_earlier_one(postgres_store: Store) -> None:
    written, seen = Signal(), Signal()

    def slow(unit: Unit) -> list[int]:
        found = list(notifications.append(unit, [noted("slow")]))
        written.set()
        assert seen.wait(30)
        return found

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(postgres_store.write, slow)
        assert written.wait(30)
        second = pool.submit(append, postgres_store, "quick")
        assert listed(postgres_store) == []
        seen.set()
        assert (first.result(), second.result()) == ([1], [2])
    assert [each.notification.message for each in listed(postgres_store)] == ["slow", "quick"]


def test_stores_of_two_servers_number_together(postgres_url: str) -> None:
    stores = [Store.open(postgres_url) for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda number: append(stores[number % 2], "a", "b"), range(40))
        assert sorted(each for pair in found for each in pair) == list(range(1, 81))
    for each in stores:
        each.close()

import pytest
from sqlalchemy import insert, update
from tests.store.catalog_values import NAME, TABLE, make_table

from hmstats.store.changes import versions
from hmstats.store.changes.touched_partitions import Changes
from hmstats.store.database.store import Store
from hmstats.store.schema import NOTIFICATION_LOG, NOTIFICATION_SEQUENCE, TBLS
from hmstats.store.unit.unit import Unit

STATISTICS, PARTITIONS, ANY = "UPDATE_TBL_COL_STAT_EVENT", "ALTER_PARTITION", "DROP_TABLE"
Logged = tuple[str, str | None]
HERE: Logged = (STATISTICS, NAME.table)


def log(store: Store, *events: Logged, first: int = 1, missing: int = 0) -> None:
    """Write events from number `first`, type and table of each, as a Hive does; `missing` have been removed since."""

    def work(unit: Unit) -> None:
        for number, (kind, table) in enumerate(events, first):
            named = {"CAT_NAME": NAME.catalog, "DB_NAME": NAME.database, "TBL_NAME": table}
            row = {"NL_ID": number, "EVENT_ID": number, "EVENT_TIME": 0, "EVENT_TYPE": kind, "MESSAGE": "{}"}
            if number > missing:
                unit.connection.execute(insert(NOTIFICATION_LOG).values(row | named))
        unit.connection.execute(update(NOTIFICATION_SEQUENCE).values(NEXT_EVENT_ID=first + len(events)))

    store.write(work)


def since(store: Store, number: int) -> Changes | None:
    return store.changes_since(versions.LOG, number)


def test_events_tell_the_tables_that_changed(store: Store) -> None:
    table = str(make_table(store, TABLE))
    log(store, HERE, (PARTITIONS, NAME.table), HERE)
    assert since(store, 0) == Changes(3, {number: frozenset({table}) for number in (1, 2, 3)})
    assert since(store, 2) == Changes(3, {3: frozenset({table})})
    assert since(store, 3) == Changes(3, {})


@pytest.mark.parametrize("event", [(ANY, NAME.table), ("OPEN_TXN", None), (STATISTICS, "gone"), ("NEW", NAME.table)])
def test_an_event_that_does_not_tell_enough_leaves_nothing_sure(store: Store, event: Logged) -> None:
    make_table(store, TABLE)
    log(store, HERE, event, HERE)
    assert since(store, 0) == since(store, 1) == Changes(3, {})
    assert since(store, 2) != Changes(3, {})


def test_events_that_were_removed_leave_nothing_sure(store: Store) -> None:
    make_table(store, TABLE)
    log(store, HERE, HERE, missing=1)
    assert since(store, 0) == Changes(2, {})
    assert since(store, 1) != Changes(2, {})


def test_a_table_that_has_another_name_by_now_is_told_by_its_last(store: Store) -> None:
    table = make_table(store, TABLE)
    store.write(lambda unit: unit.connection.execute(update(TBLS).values(TBL_NAME="renamed")))
    log(store, ("ALTER_TABLE", "renamed"), (STATISTICS, "renamed"))
    assert since(store, 0) == Changes(2, dict.fromkeys((1, 2), frozenset({str(table)})))
    log_again = (HERE, ("ALTER_TABLE", "renamed"))
    store.write(lambda unit: unit.connection.execute(NOTIFICATION_LOG.delete()))
    log(store, *log_again)
    assert since(store, 0) == Changes(2, {})  # whose name the first was, nobody knows any more


def test_a_database_that_does_not_answer_tells_nothing() -> None:
    away = Store.open("postgresql://nobody@127.0.0.1:1/none")
    assert since(away, 0) is None
    away.close()


def test_what_is_read_is_noted_with_the_number_of_the_log(store: Store) -> None:
    table = make_table(store, TABLE)
    log(store, HERE, HERE)
    store.follow_hive()
    with versions.noting_reads() as noted:
        with store.read():
            versions.note_read(table, None, ["k=a"])
            versions.note_read(77, 5)
        log(store, HERE, first=3)
        with store.read():
            versions.note_read(table, 8)
    told = frozenset({str(table), "77"})
    assert noted[versions.LOG] == versions.NotedRead(2, told)
    assert {each: noted[each].version for each in (table, 77)} == {table: -1, 77: 5}
    with versions.noting_reads() as noted, store.read():
        pass
    assert noted == {}


def test_what_the_log_does_not_tell_of_has_no_number(store: Store) -> None:
    log(store, HERE, HERE)
    for follows, found in (
        (False, {5: versions.NotedRead(7, None)}),
        (True, {versions.LOG: versions.NotedRead(0, None)}),
    ):
        if follows:
            store.follow_hive()
        with versions.noting_reads() as noted, store.read():
            versions.note_unlogged()
            versions.note_read(5, 7)
        assert {5: versions.NotedRead(7, None)} | found == noted


def test_the_current_numbers_have_the_logs_when_it_is_asked_for(store: Store) -> None:
    store.write(lambda unit: versions.bump(unit, 5))
    assert store.current_versions([5, 6, versions.LOG]) == {5: 1, 6: -1, versions.LOG: 0}
    log(store, HERE, HERE)
    assert store.current_versions([5, 6, versions.LOG]) == {5: 1, 6: -1, versions.LOG: 2}
    assert store.current_versions([5, 6]) == {5: 1}


def test_they_are_had_without_waiting_too(postgres_url: str) -> None:
    store = Store.open(postgres_url, pool_size=1)
    store.write(lambda unit: versions.bump(unit, 5))
    log(store, HERE, HERE)
    store.follow_hive()
    line = store.version_line()
    assert line is not None
    line.send_query([5, 6, versions.LOG])
    while (found := line.receive()) is None:
        pass
    assert found == {5: 1, 6: -1, versions.LOG: 2}
    line.close()
    store.close()

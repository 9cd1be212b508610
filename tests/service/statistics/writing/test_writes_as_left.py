"""Plain writes to a table that is as the last of them left it: nothing is read, and nothing lost where it is not."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest
from psycopg2.errors import DeadlockDetected, ReadOnlySqlTransaction
from sqlalchemy import Connection, delete, select
from sqlalchemy.exc import DBAPIError, OperationalError
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, make_table

from hmstats.errors import StoreUnavailable
from hmstats.model.catalog.objects import Partition, Storage
from hmstats.model.events import Event, Notification, NotificationFilter
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind, LongStatistics, StatisticsSet
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.writing import last_written
from hmstats.service.statistics.writing.plain_writes import PlainWrites
from hmstats.service.statistics.writing.recent_tables import Newest
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.frequent.top_k import TopK
from hmstats.store.changes import notifications, touched_partitions
from hmstats.store.connections.writing_connection import run_together
from hmstats.store.database.store import Store
from hmstats.store.schema import (
    HMSTATS_OWN_CHANGE,
    HMSTATS_TABLE_CHANGE,
    PART_COL_STATS,
    PARTITION_KEY_VALS,
    PARTITION_PARAMS,
    PARTITIONS,
    TAB_COL_STATS,
)
from hmstats.store.statistics import column_statistics, details, table_facts
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit import unit
from hmstats.store.unit.version_guard import ExpectedTable

OWNERS = [None, "p=1"]


@pytest.fixture
def plain(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlainWrites:
    """Two writes are a run here."""
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", 2)
    make_table(store, tmp_path, [1, 2])
    return StatisticsWriter(store).plain


@pytest.fixture
def others(store: Store, plain: PlainWrites) -> Iterator[StatisticsWriter]:
    """Another server's writer."""
    del plain  # makes the table
    opened = Store.open(store._pools.writers.url.render_as_string(hide_password=False))
    yield StatisticsWriter(opened)
    opened.close()


def longs(partition: str | None, *columns: str, ndv: int | None = 5, kind: str = "bigint") -> StatisticsByField:
    each = columns or ("l",)
    rows = [*range(len(each))]
    values: dict[str, Any] = {
        "low": [1 for _ in rows],
        "high": [9 for _ in rows],
        "nulls": [0 for _ in rows],
        "ndv": [ndv for _ in rows],
    }
    described = [KindOfColumn(name, "int" if name == "m" else kind, Kind.LONG) for name in each]
    return StatisticsByField([partition], "hive", described, [FieldValues(Kind.LONG, rows, values)])


def write(plain: PlainWrites, *given: StatisticsByField, author: str = "ada") -> None:
    for each in given:
        assert plain.write(NAME, each, of_table=each.partitions == [None], author=author)


def target_of(store: Store) -> TableFacts:
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
    assert target is not None
    return target


def stored(store: Store, partition: str | None) -> dict[str, Any]:
    """The ndv of each column."""
    with store.read() as connection:
        if partition is None:
            sets = column_statistics.read_table(connection, target_of(store).id, None, None)
        else:
            found = column_statistics.read_partitions(connection, target_of(store).id, [partition], None, None)
            sets = found.get(partition, [])
    return {column.column: column.data.ndv for each in sets for column in each.columns}  # type: ignore[union-attr]


@pytest.mark.parametrize("partition", OWNERS)
def test_the_third_write_reads_nothing_and_leaves_the_same(
    store: Store, plain: PlainWrites, statements: StatementCounter, partition: str | None
) -> None:
    write(plain, longs(partition, "l", "m"), longs(partition, "l", "m"))
    before = target_of(store)
    with statements() as sent:
        write(plain, longs(partition, "l", "m", ndv=7), author="bob")
    if not store.name.startswith("sqlite"):
        (alone,) = sent
        assert "UPDATE" in alone or "EXECUTE" in alone
    after = target_of(store)
    assert after.version == before.version + 1
    assert stored(store, partition) == {"l": 7, "m": 7}
    with store.read() as connection:
        read = details.read_partitions(connection, after.id, None, None) if partition else None
        found = [*read] if read else details.read_table(connection, after.id, None)
        assert [each.provenance and each.provenance.writer for each in found] == ["bob", "bob"]
    since = store.changes_since(after.id, before.version)
    named = {after.version: frozenset({partition})} if partition else {}
    own = {} if partition else {after.version: frozenset[str]()}
    assert since == touched_partitions.Changes(after.version, named, own)


@pytest.mark.parametrize("partition", OWNERS)
def test_new_columns_and_types_and_what_is_unknown_are_written_as_ever(
    store: Store, plain: PlainWrites, partition: str | None
) -> None:
    write(plain, longs(partition), longs(partition), longs(partition))
    write(plain, longs(partition, "l", "m", ndv=6))
    assert stored(store, partition) == {"l": 6, "m": 6}
    write(plain, longs(partition, "l", "m", ndv=None))
    assert stored(store, partition) == {"l": None, "m": None}
    write(plain, longs(partition, "m", ndv=8))
    assert stored(store, partition) == {"l": None, "m": 8}
    marks = target_of(store).parameters
    if partition is not None:
        with store.read() as connection:
            (marks,) = parameters.read(connection, OF_PARTITIONS, [*ids(store)], [PARAMETER]).values()
    assert Accurate.parse(marks[PARAMETER]).columns == {"l", "m"}


def ids(store: Store) -> Sequence[int]:
    with store.read() as connection:
        return connection.execute(select(PART_COL_STATS.c.PART_ID).distinct()).scalars().all()


@pytest.mark.parametrize("partition", OWNERS)
def test_two_servers_that_take_turns_read_nothing(
    store: Store, plain: PlainWrites, others: StatisticsWriter, statements: StatementCounter, partition: str | None
) -> None:
    for _ in range(2):
        write(plain, longs(partition))
        write(others.plain, longs(partition))
    before = target_of(store)
    with statements() as sent:
        for ndv in (6, 8):
            write(plain, longs(partition, ndv=ndv))
            write(others.plain, longs(partition, ndv=ndv + 1))
    after = target_of(store)
    assert store.name.startswith("sqlite") or len(sent) == 4
    assert (after.version, after.definition) == (before.version + 4, before.definition)
    assert stored(store, partition) == {"l": 9}


@pytest.mark.parametrize("partition", OWNERS)
def test_a_column_that_is_marked_first_is_a_new_definition(
    store: Store, plain: PlainWrites, others: StatisticsWriter, partition: str | None
) -> None:
    write(plain, *[longs(partition)] * 3)
    before = target_of(store)
    write(others.plain, longs(partition, "m"))
    after = target_of(store)
    assert (after.version, after.definition) == (before.version + 1, before.definition + 1)


@pytest.mark.parametrize("kinds", [("bigint", "int"), ("int", "bigint")])
@pytest.mark.parametrize("turns", [1, 3])
def test_a_type_that_another_server_states_otherwise_is_written(
    store: Store, plain: PlainWrites, others: StatisticsWriter, kinds: tuple[str, str], turns: int
) -> None:
    writers = (plain, others.plain)
    for _ in range(3 // turns):
        for writer, kind in zip(writers, kinds, strict=True):
            write(writer, *[longs(None, kind=kind)] * turns)
    for ndv, (writer, kind) in enumerate(zip(writers, kinds, strict=True)):
        write(writer, longs(None, kind=kind, ndv=ndv))
        with store.read() as connection:
            row = select(TAB_COL_STATS.c.COLUMN_TYPE, TAB_COL_STATS.c.NUM_DISTINCTS)
            assert [tuple(each) for each in connection.execute(row)] == [(kind, ndv)]


def test_partitions_of_one_run_are_known_and_others_are_not(
    store: Store, plain: PlainWrites, statements: StatementCounter
) -> None:
    write(plain, longs("p=1"), longs(None), longs(None))
    with statements() as sent:
        write(plain, longs("p=1", ndv=6))
    of_known = len(sent)
    with statements() as sent:
        write(plain, longs("p=2", ndv=7))
    assert store.name.startswith("sqlite") or (of_known, len(sent)) == (1, 2)
    assert (stored(store, "p=1"), stored(store, "p=2"), stored(store, None)) == ({"l": 6}, {"l": 7}, {"l": 5})


@pytest.mark.parametrize("partition", OWNERS)
def test_what_another_server_wrote_meanwhile_is_seen(
    store: Store, plain: PlainWrites, others: StatisticsWriter, partition: str | None
) -> None:
    """It has counted the table once, as this server is about to: numbers alone do not tell the two apart."""
    for number in range(3):
        write(plain, *[longs(partition, ndv=10 + number)] * 3)
        write(others.plain, longs(partition, "l", "m", ndv=20 + number))
        assert stored(store, partition) == {"l": 20 + number, "m": 20 + number}
        before = target_of(store).version
        write(plain, longs(partition, ndv=30 + number))
        assert target_of(store).version == before + 1
        assert stored(store, partition) == {"l": 30 + number, "m": 20 + number}


@pytest.mark.parametrize("removed", [None, ["m"]])
@pytest.mark.parametrize("partition", OWNERS)
def test_rows_that_somebody_removed_by_hand_are_made_again(
    store: Store, plain: PlainWrites, others: StatisticsWriter, partition: str | None, removed: list[str] | None
) -> None:
    write(plain, *[longs(partition, "l", "m")] * 3)
    target = target_of(store)

    def remove(unit: unit.Unit) -> None:
        column_statistics.delete_tables(unit, [target.id], removed, None)
        column_statistics.delete_partitions(unit, ids(store), removed, None)

    others._store.write(remove)
    assert target_of(store).version == target.version
    write(plain, longs(partition, "l", "m", ndv=6))
    assert stored(store, partition) == {"l": 6, "m": 6}


def test_a_partition_that_somebody_removed_by_hand_is_missed(store: Store, plain: PlainWrites) -> None:
    write(plain, *[longs("p=1")] * 3)
    (part_id,) = ids(store)
    with store._pools.writers.begin() as connection:
        for table in (PART_COL_STATS, PARTITION_PARAMS, PARTITION_KEY_VALS, PARTITIONS):
            connection.execute(delete(table).where(table.c.PART_ID == part_id))
    assert not plain.write(NAME, longs("p=1", "l", "m"), of_table=False)


def test_a_partition_that_was_made_again_is_another(
    store: Store, plain: PlainWrites, others: StatisticsWriter, tmp_path: Path
) -> None:
    write(plain, *[longs("p=1")] * 3)
    elsewhere = PartitionChanges(others._store, Warehouse(str(tmp_path)))
    elsewhere.drop(NAME, ["1"], delete_data=False)
    elsewhere.add(NAME, [Partition(values=("1",), storage=Storage())])
    write(plain, *[longs(None)] * 3)
    write(plain, longs("p=1", "l", "m", ndv=6))
    assert stored(store, "p=1") == {"l": 6, "m": 6}


def test_a_partition_of_a_table_that_was_made_again_is_another(
    store: Store, plain: PlainWrites, tmp_path: Path
) -> None:
    write(plain, *[longs("p=1")] * 3)
    Tables(store, Warehouse(str(tmp_path))).drop(NAME, delete_data=False)
    make_table(store, tmp_path, [1])
    write(plain, *[longs(None)] * 3)
    write(plain, longs("p=1", "l", "m", ndv=6))
    assert stored(store, "p=1") == {"l": 6, "m": 6}


def test_a_distinct_count_that_is_unknown_is_not_kept(store: Store, plain: PlainWrites) -> None:
    write(plain, *[longs("p=1")] * 3)
    write(plain, longs("p=1", ndv=None))
    assert stored(store, "p=1") == {"l": None}
    write(plain, longs("p=1"))
    write(plain, longs("p=1", ndv=None, kind="int"))
    assert stored(store, "p=1") == {"l": None}


def test_a_partition_that_was_dropped_is_missed(store: Store, plain: PlainWrites, tmp_path: Path) -> None:
    write(plain, *[longs("p=1")] * 3)
    PartitionChanges(store, Warehouse(str(tmp_path))).drop(NAME, ["1"], delete_data=False)
    assert not plain.write(NAME, longs("p=1"), of_table=False)
    with store.read() as connection:
        assert not connection.execute(select(PART_COL_STATS.c.PART_ID)).all()


def test_frequent_values_that_became_wrong_go(
    store: Store, plain: PlainWrites, others: StatisticsWriter, statements: StatementCounter
) -> None:
    write(plain, *[longs("p=1")] * 3)
    sketch = TopK()
    sketch.add(["1"], [5], 9, 0)
    column = ColumnStatistics("m", "int", LongStatistics(nulls=0, ndv=9), top_k=sketch.to_bytes())
    others.update_table(NAME, StatisticsSet((column,)))
    write(plain, *[longs("p=1", ndv=6)] * 3)
    with statements() as sent:
        write(plain, longs(None, "m", ndv=7))
    assert len(sent) > 1  # a table with frequent values is read each time
    with store.read() as connection:
        (found,) = details.read_table(connection, target_of(store).id, None)
    assert found.top_k is None
    assert (stored(store, "p=1"), stored(store, None)) == ({"l": 6}, {"m": 7})


def test_each_write_is_an_event_of_its_own(store: Store, plain: PlainWrites, statements: StatementCounter) -> None:
    store.enable_log(
        lambda event, _seconds: Notification(type(event).__name__, "hive", "default", "t", _said(event), "f")
    )
    for partition in OWNERS:
        write(plain, *[longs(partition)] * 3)
    with statements() as sent:
        write(plain, longs("p=1", ndv=6), longs(None, ndv=7))
    assert store.name.startswith("sqlite") or len(sent) == 2
    plain._events._tables = Newest()  # others were written meanwhile
    write(plain, longs(None, ndv=8))
    with store.read() as connection:
        logged = notifications.read(connection, NotificationFilter(after=0), None)
    assert [each.id for each in logged] == [*range(logged[0].id, logged[0].id + 9)]
    said = [each.notification.message for each in logged]
    assert said == ["None 5"] * 3 + ["p=1 5"] * 3 + ["p=1 6", "None 7", "None 8"]


def _said(event: Event) -> str:
    statistics = event.statistics  # type: ignore[union-attr]
    return f"{statistics.partition} {statistics.columns[0].data.ndv}"  # type: ignore[union-attr]


def test_what_is_not_as_expected_leaves_nothing(store: Store, plain: PlainWrites, others: StatisticsWriter) -> None:
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so nothing is expected there")
    store.enable_log(lambda event, _seconds: Notification("UPDATE", "hive", "default", "t", _said(event), "f"))
    for partition in reversed(OWNERS):
        write(plain, *[longs(partition)] * 3)
    seen = []
    through = store.write_as_expected

    def meanwhile(expected: ExpectedTable, rows: int, work: Any) -> Any:
        table_id, definition, version, _ = expected
        seen.append(through(ExpectedTable(table_id, definition - 1, version), rows, work))
        seen.append(through(ExpectedTable(table_id + 1, definition, version), rows, work))
        seen.append(through(ExpectedTable(table_id, definition, version - 1, unwritten=True), rows, work))
        return None

    def everything() -> Any:
        with store.read() as connection:
            tables = (TAB_COL_STATS, PART_COL_STATS, HMSTATS_TABLE_CHANGE, HMSTATS_OWN_CHANGE)
            rows = [sorted(map(repr, connection.execute(select(table)))) for table in tables]
            log = notifications.read(connection, NotificationFilter(after=0), None)
            return rows, log, details.read_table(connection, target_of(store).id, None), target_of(store)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "write", lambda _work: None)
        patched.setattr(store, "write_as_expected", meanwhile)
        before = everything()
        for partition in OWNERS:
            assert not plain.write(NAME, longs(partition, ndv=8), of_table=partition is None)
            assert not plain.write(NAME, longs(partition, "m", ndv=8), of_table=partition is None)
    assert seen == [None] * 12
    assert everything() == before


def fail_once(monkeypatch: pytest.MonkeyPatch, error: DBAPIError, *, done: bool = False) -> list[str]:
    """Has the next message of statements be refused, or lost on its way back once it is `done`."""
    left = [error]
    sent = []

    def together(lent: Connection, text: str, values: Sequence[Any]) -> int:
        sent.append(text)
        if done or not left:
            rows = run_together(lent, text, values)
        if left:
            raise left.pop()
        return rows

    monkeypatch.setattr(unit, "run_together", together)
    return sent


def test_one_who_met_another_writer_tries_again(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(plain, *[longs("p=1")] * 3)
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so none are sent together")
    refusal = type("Refusal", (DeadlockDetected,), {"pgcode": "40P01"})("deadlock detected")
    sent = fail_once(monkeypatch, DBAPIError("statement", (), refusal))
    write(plain, longs("p=1", ndv=6))
    assert len(sent) == 2
    assert stored(store, "p=1") == {"l": 6}


LOST = "applied completely or not at all"


def lost() -> DBAPIError:
    return DBAPIError("statement", (), Exception("gone"), connection_invalidated=True)


def test_one_whose_connection_is_lost_before_tries_again(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so none are sent together")
    write(plain, *[longs("p=1")] * 3)
    before = target_of(store)
    sent = fail_once(monkeypatch, lost())
    write(plain, longs("p=1", ndv=6))
    assert len(sent) == 2
    after = target_of(store)
    assert (stored(store, "p=1"), after.version) == ({"l": 6}, before.version + 1)
    assert after.definition == before.definition + 1, "the first try can still write"


@pytest.mark.parametrize("gone", [False, True])
def test_one_whose_connection_is_lost_after_does_not_write_twice(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch, *, gone: bool
) -> None:
    """Nor does it say that all is well: somebody else may have counted the table. `gone`: nor can it ask again."""
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so none are sent together")
    write(plain, *[longs("p=1")] * 3)
    before = target_of(store).version
    with monkeypatch.context() as patched:
        sent = fail_once(patched, lost(), done=True)
        if gone:
            connects = iter([store._pools.writers.connect()])
            patched.setattr(store._pools.writers, "connect", lambda: next(connects, None) or away())
        with pytest.raises(StoreUnavailable, match=LOST):
            plain.write(NAME, longs("p=1", ndv=6), of_table=False)
    assert len(sent) == (1 if gone else 2)
    assert (stored(store, "p=1"), target_of(store).version) == ({"l": 6}, before + 1)
    write(plain, longs("p=1", ndv=7))
    assert stored(store, "p=1") == {"l": 7}


def test_one_whose_connection_is_lost_and_that_is_refused_then_is_not_said_to_be_refused(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a standby that only reads has taken over: the first try may have been applied."""
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so none are sent together")
    write(plain, *[longs("p=1")] * 3)
    connections = iter([store._pools.writers.connect()])
    with monkeypatch.context() as patched:
        fail_once(patched, lost(), done=True)
        patched.setattr(store._pools.writers, "connect", lambda: next(connections, None) or refused())
        with pytest.raises(StoreUnavailable, match=LOST):
            plain.write(NAME, longs("p=1", ndv=6), of_table=False)
    assert stored(store, "p=1") == {"l": 6}


def test_one_whose_connection_is_lost_before_and_whose_rows_are_gone_is_written_anew(
    store: Store, plain: PlainWrites, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second try finds that the first wrote nothing, and writes a part: the rest must follow."""
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite's statements take no round trip, so none are sent together")
    write(plain, *[longs("p=1", "l", "m")] * 3)
    store.write(lambda unit: column_statistics.delete_partitions(unit, ids(store), ["m"], None))
    fail_once(monkeypatch, lost())
    write(plain, longs("p=1", "l", "m", ndv=6))
    assert stored(store, "p=1") == {"l": 6, "m": 6}


def refused() -> NoReturn:
    unwritable = type("Unwritable", (ReadOnlySqlTransaction,), {"pgcode": "25006"})
    raise DBAPIError("statement", (), unwritable("cannot execute UPDATE in a read-only transaction"))


def away() -> NoReturn:
    raise OperationalError("connect", (), Exception("refused"))


def test_a_backend_that_is_ended_is_replaced(store: Store, plain: PlainWrites, others: StatisticsWriter) -> None:
    """Also if another server has written since, so that a write whose fate is unknown could not be sent again."""
    if store.name.startswith("sqlite"):
        pytest.skip("SQLite has no backends")
    write(plain, *[longs("p=1")] * 3)
    with store._pools.writers.connect() as connection:
        assert connection.connection.dbapi_connection is not None
        number = connection.connection.dbapi_connection.info.backend_pid
    with store.read() as connection:
        assert connection.exec_driver_sql("SELECT pg_terminate_backend(%s, 10000)", (number,)).scalar_one()
    write(others.plain, longs("p=1", ndv=8))
    write(plain, longs("p=1", ndv=6))
    assert stored(store, "p=1") == {"l": 6}


@pytest.mark.slow
def test_servers_that_always_expect_lose_nothing(
    store: Store, plain: PlainWrites, others: StatisticsWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two servers writes columns of its own, and has every reason to expect in vain."""
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", 0)
    for each in (store, others._store):
        each.enable_log(lambda event, _seconds: Notification("UPDATE", "hive", "default", "t", _said(event), "f"))
    before, writers, times = target_of(store).version, {"l": plain, "m": others.plain}, 60

    def run(column: str) -> None:
        for number in range(times):
            write(writers[column], longs("p=1", column, ndv=number), longs(None, column, ndv=number))

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(run, column) for column in writers]:
            done.result()
    assert target_of(store).version == before + 4 * times
    assert stored(store, "p=1") == stored(store, None) == {"l": times - 1, "m": times - 1}
    with store.read() as connection:
        logged = notifications.read(connection, NotificationFilter(after=0), None)
    assert [each.id for each in logged] == [*range(logged[0].id, logged[0].id + 4 * times)]


def test_no_more_partitions_are_remembered_than_fit(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_written, "_MOST_PARTITIONS", 1)
    make_table(store, tmp_path, [1, 2])
    plain = StatisticsWriter(store).plain
    for number in range(3):
        write(plain, longs("p=1", ndv=number), longs("p=2", ndv=10 + number))
    assert (stored(store, "p=1"), stored(store, "p=2")) == ({"l": 2}, {"l": 12})
    assert len(plain._last_written._partitions._values) == 1

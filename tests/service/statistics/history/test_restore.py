"""Statistics of the past come back as they were, whatever was written since."""

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select
from tests.service.statistics.filled import NAME, TYPES, make_table, of_longs, of_partition

from hmstats.errors import InvalidInput, LockedStatistics, NoSuchObject
from hmstats.model.catalog.objects import Column, DatabaseName, Partition, Storage, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.parameters.basic_statistics import FILE_SIZES
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.statistics.column_statistics import DoubleStatistics, StatisticsSet, StringStatistics
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.tables.alter_table import TableAlterations
from hmstats.service.catalog.tables.statistics_locks import StatisticsLocks
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.statistics.history.history import StatisticsHistory
from hmstats.service.statistics.history.restore import StatisticsRestore
from hmstats.service.statistics.history.upkeep import HistoryUpkeep, Retention, text
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.frequent.top_k import TopK
from hmstats.store.database.store import Store
from hmstats.store.history import purge
from hmstats.store.history.caller import RESTORE, Caller, caller
from hmstats.store.schema import HMSTATS_HISTORY, HMSTATS_HISTORY_COLUMN, HMSTATS_HISTORY_SKETCH

COLUMNS = tuple(Column(name, kind) for name, kind in TYPES.items())
STORAGE = Storage(columns=COLUMNS)


class Scene:
    """A table with two partitions, and everything that changes or asks for its statistics."""

    def __init__(self, store: Store, folder: Path, retention: Retention | None = None) -> None:
        self.store = store
        self.warehouse = Warehouse(str(folder))
        self.retention = retention or Retention()
        make_table(store, folder, [1, 2])
        HistoryUpkeep(store, self.retention).run()
        self.writer = StatisticsWriter(store)
        self.history = StatisticsHistory(store, self.retention)
        self.restores = StatisticsRestore(store, self.retention)
        self.tables = Tables(store, self.warehouse)
        self.partitions = PartitionChanges(store, self.warehouse)
        self.alterations = TableAlterations(store, self.warehouse)
        self.moves = PartitionMoves(store, self.warehouse)
        self.truncation = Truncation(store, self.warehouse)

    def now(self) -> int:
        """A time after everything so far and before everything to come."""
        time.sleep(0.003)
        at_ms = int(time.time() * 1000)
        time.sleep(0.003)
        return at_ms

    def second_before(self) -> int:
        """A time so long after everything so far and before everything to come that times of creation tell it."""
        at_ms = self.now()
        time.sleep(1)
        return at_ms

    def stored(self, name: TableName = NAME) -> list[StatisticsSet]:
        """What the ordinary way reads of the table and of its partitions, with sketches and provenance."""
        questions = StatisticsQuestions(self.store, StatisticsReader(self.store))
        found = [*questions.statistics(name, None, None, "hive"), *questions.statistics(name, None, [], "hive")]
        return _in_order(found)

    def past(self, at_ms: int | None, name: TableName = NAME) -> list[StatisticsSet]:
        """What the history says of the table and of its partitions."""
        own = self.history.past(name, at_ms)
        of_partitions = self.history.past(name, at_ms, partitions=[])
        return _in_order([*own.sets, *of_partitions.sets])

    def write(self, number: int | None, start: int, stop: int, *, top_k: bool = False) -> None:
        """Write statistics of two columns, with sketches."""
        given = of_partition(
            number,
            l=of_longs(start, stop, histogram=True),
            s=StringStatistics(max_length=9, average_length=2.5, nulls=0, ndv=stop),
        )
        if top_k:
            column = replace(given.columns[0], top_k=TopK().to_bytes())
            given = replace(given, columns=(column, *given.columns[1:]))
        if number is None:
            self.writer.update_table(NAME, given, WriteOptions(author="ada"))
        else:
            self.writer.update_partitions(NAME, [given], WriteOptions(author="ada"))


def _in_order(sets: Iterable[StatisticsSet]) -> list[StatisticsSet]:
    each = (replace(one, columns=tuple(sorted(one.columns, key=lambda column: column.column))) for one in sets)
    return sorted((one for one in each if one.columns), key=lambda one: (one.partition or "", one.engine))


@pytest.fixture
def scene(store: Store, tmp_path: Path) -> Scene:
    return Scene(store, tmp_path)


def written(scene: Scene) -> None:
    scene.write(None, 5, 90)
    scene.write(1, 7, 70, top_k=True)


def first_written(scene: Scene) -> None:
    scene.writer.update_partitions(NAME, [of_partition(2, m=of_longs(0, 3))])


def deleted(scene: Scene) -> None:
    scene.writer.delete_table(NAME, ["l"], None)
    scene.writer.delete_partitions(NAME, None, None, None)


def parameters(scene: Scene) -> None:
    scene.writer.update_table(NAME, of_partition(None), change=ParameterChange({"numRows": "7"}))


def truncated(scene: Scene) -> None:
    scene.truncation.truncate(NAME, None, delete_data=False)


def table_made_again(scene: Scene) -> None:
    scene.tables.drop(NAME, delete_data=False)
    make_table(scene.store, Path(scene.warehouse.root), [1, 2])


def partition_made_again(scene: Scene) -> None:
    scene.partitions.drop(NAME, ["1"], delete_data=False)
    scene.partitions.add(NAME, [Partition(values=("1",), storage=STORAGE)])


CHANGES: list[Callable[[Scene], None]] = [
    written,
    first_written,
    deleted,
    parameters,
    truncated,
    table_made_again,
    partition_made_again,
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_before_a_change_comes_back_and_so_does_what_the_restore_replaced(
    scene: Scene, change: Callable[[Scene], None]
) -> None:
    scene.write(None, 0, 1_000, top_k=True)
    scene.write(1, 0, 500)
    before, at_ms = scene.stored(), scene.now()
    assert scene.past(None) == before
    change(scene)
    after, later_ms = scene.stored(), scene.now()
    assert scene.past(at_ms) == before
    planned = scene.restores.restore(NAME, at_ms, dry_run=True)
    assert scene.stored() == after
    assert scene.restores.restore(NAME, at_ms) == planned
    assert scene.stored() == before
    scene.now()
    scene.restores.restore(NAME, later_ms)
    assert scene.stored() == after


def test_a_bound_that_is_no_number_is_not_restored_again(scene: Scene) -> None:
    for high in (2.0, math.nan):
        scene.writer.update_table(NAME, of_partition(None, d=DoubleStatistics(low=math.nan, high=high, nulls=0, ndv=3)))
    at_ms = scene.now()
    assert scene.restores.restore(NAME, at_ms).written == 0
    scene.write(None, 0, 10)
    scene.writer.update_table(NAME, of_partition(None, d=DoubleStatistics(low=1.0, high=2.0, nulls=0, ndv=3)))
    assert scene.restores.restore(NAME, at_ms).written == 1
    assert scene.restores.restore(NAME, at_ms).written == 0


def test_a_renamed_partition_takes_its_history_with_it(scene: Scene) -> None:
    scene.write(1, 0, 500)
    (before,), at_ms = scene.stored(), scene.now()
    scene.moves.rename(NAME, ["1"], Partition(values=("3",), storage=STORAGE))
    scene.writer.delete_partitions(NAME, None, None, None)
    assert scene.past(at_ms) == [before]
    scene.restores.restore(NAME, at_ms)
    assert scene.stored() == [replace(before, partition="p=3")]


def test_a_partition_is_in_the_past_of_each_table_while_it_was_there(scene: Scene) -> None:
    other, spec = TableName("hive", "default", "other"), {"p": "1"}
    scene.tables.create(replace(scene.tables.get(NAME), id=None, name=other, storage=STORAGE))
    scene.write(1, 0, 500)
    (before,), first_ms = scene.stored(), scene.now()
    scene.moves.exchange(spec, NAME, other)
    (moved,), second_ms = scene.stored(other), scene.now()
    scene.writer.update_partitions(other, [of_partition(1, l=of_longs(0, 900))])
    written = scene.stored(other)
    scene.restores.restore(other, first_ms)  # when it was in the other table
    assert scene.stored(other) == written
    scene.restores.restore(other, second_ms)
    assert scene.stored(other) == [moved]
    scene.moves.exchange(spec, other, NAME)
    third_ms = scene.now()
    scene.writer.delete_partitions(NAME, None, None, None)
    places = {first_ms: NAME, second_ms: other, third_ms: NAME}
    for at_ms, place in places.items():
        assert {each: scene.past(at_ms, each) for each in (NAME, other)} == {
            each: [before] if each == place else [] for each in (NAME, other)
        }
    kinds = [write.kinds[0] for write in scene.history.writes(other, "l").writes]
    assert kinds == ["dropped", "columns", "columns", "arrived"]
    scene.restores.restore(NAME, second_ms)
    assert scene.stored() == []
    scene.restores.restore(NAME, first_ms)
    assert scene.stored() == [before]


def test_a_renamed_table_takes_its_history_with_it(scene: Scene) -> None:
    scene.write(None, 0, 500)
    before, at_ms = scene.stored(), scene.now()
    scene.write(None, 0, 900)
    other = TableName("hive", "default", "other")
    scene.alterations.alter(NAME, replace(scene.tables.get(NAME), name=other))
    scene.restores.restore(other, at_ms)
    assert scene.stored(other) == before
    assert scene.past(at_ms, NAME) == before
    called = [(write.table, write.kinds) for write in scene.history.writes(other).writes]
    assert called[1][0] == NAME
    assert "renamed" in called[1][1]


def with_columns(scene: Scene, columns: Sequence[Column]) -> None:
    table = scene.tables.get(NAME)
    assert table.storage is not None
    scene.alterations.alter(NAME, replace(table, storage=replace(table.storage, columns=tuple(columns))))


def test_a_column_of_another_type_gets_nothing_back(scene: Scene) -> None:
    scene.write(None, 0, 500)
    at_ms = scene.now()
    with_columns(scene, [Column(each.name, "string") if each.name == "l" else each for each in COLUMNS])
    scene.writer.delete_table(NAME, None, None)
    assert scene.restores.restore(NAME, at_ms).written == 1
    assert [column.column for each in scene.stored() for column in each.columns] == ["s"]


def test_parameters_of_a_column_of_another_type_do_not_come_back(scene: Scene) -> None:
    sizes, of_l, of_s = (
        f"spark.sql.statistics.{each}" for each in ("totalSize", "colStats.l.version", "colStats.s.version")
    )
    table = scene.tables.get(NAME)
    stated = {**table.parameters, sizes: "5", of_l: "2", of_l.replace("version", "min"): "0", of_s: "2"}
    scene.alterations.alter(NAME, replace(table, parameters=stated))
    scene.write(None, 0, 500)
    at_ms = scene.now()
    with_columns(scene, [Column(each.name, "string") if each.name == "l" else each for each in COLUMNS])
    table = scene.tables.get(NAME)
    newer = {key: value for key, value in table.parameters.items() if ".colStats." not in key}
    scene.alterations.alter(NAME, replace(table, parameters=newer))  # Spark has analysed it again
    scene.restores.restore(NAME, at_ms)
    after = scene.tables.get(NAME).parameters
    assert Accurate.parse(after[PARAMETER]).columns == {"s"}
    assert {key for key in after if key.startswith("spark.sql.statistics.")} == {of_s, sizes}


def test_a_mark_of_accurate_statistics_comes_back_while_the_files_are_the_same(scene: Scene) -> None:
    scene.write(None, 0, 500)
    at_ms = scene.now()
    marked = scene.tables.get(NAME).parameters[PARAMETER]
    scene.writer.delete_table(NAME, None, None)
    scene.restores.restore(NAME, at_ms)
    assert scene.tables.get(NAME).parameters[PARAMETER] == marked
    scene.writer.update_table(NAME, of_partition(None), change=ParameterChange({"numFiles": "2", "totalSize": "9"}))
    assert scene.restores.restore(NAME, at_ms).unmarked == 1
    after = scene.tables.get(NAME).parameters
    assert PARAMETER not in after
    assert "totalSize" not in after


def test_a_restore_that_is_repeated_marks_nothing_more(scene: Scene) -> None:
    change = ParameterChange({"numFiles": "1", "totalSize": "5", "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'})
    scene.writer.update_table(NAME, of_partition(None), change=change)
    at_ms = scene.now()
    scene.writer.update_table(NAME, of_partition(None), change=ParameterChange({"numFiles": "2", "totalSize": "9"}))
    for _ in range(2):  # the first restore must not make the second find the files as they were
        assert scene.restores.restore(NAME, at_ms).unmarked == 1
        after = scene.tables.get(NAME).parameters
        assert PARAMETER not in after
        assert (after["numFiles"], after["totalSize"]) == ("2", "9")


def stated(scene: Scene, sizes: tuple[str, str] | None, marks: str | None) -> tuple[int, dict[str, str]]:
    """State sizes and marks of the table and a partition; a time after it, and the table's parameters."""
    values = {**dict(zip(FILE_SIZES, sizes or (), strict=False)), **({} if marks is None else {PARAMETER: marks})}
    removed = frozenset({*FILE_SIZES, PARAMETER} - values.keys())
    change = ParameterChange(values, removed)
    scene.writer.update_table(NAME, of_partition(None), change=change)
    scene.writer.update_partitions(NAME, [], changes={"p=1": change})
    return scene.now(), dict(scene.tables.get(NAME).parameters)


def restored_by_call(scene: Scene, at_ms: int) -> None:
    """Restore as a server does, whose history says which call has written."""
    token = caller.set(Caller("ada", RESTORE))
    scene.restores.restore(NAME, at_ms)
    caller.reset(token)


@pytest.mark.parametrize("sizes", [("2", "9"), None])
def test_a_restore_does_not_make_the_next_one_find_the_files_as_they_were(
    scene: Scene, sizes: tuple[str, str] | None
) -> None:
    """Hive would answer by the numbers of files that are gone."""
    unmarked_ms, _ = stated(scene, ("1", "5"), None)
    marked_ms, _ = stated(scene, ("1", "5"), '{"BASIC_STATS":"true"}')
    stated(scene, sizes, None)
    for at_ms in (unmarked_ms, marked_ms, marked_ms):
        restored_by_call(scene, at_ms)
        for owner in (None, "p=1"):
            wanted = None if owner is None else [owner]
            (values,) = scene.history.past(NAME, None, partitions=wanted).parameters.values()
            assert PARAMETER not in values


def test_what_a_restore_has_replaced_comes_back_with_its_marks(scene: Scene) -> None:
    old_ms, _ = stated(scene, ("1", "5"), None)
    new_ms, before = stated(scene, ("2", "9"), '{"BASIC_STATS":"true"}')
    restored_by_call(scene, old_ms)
    assert scene.tables.get(NAME).parameters["numFiles"] == "1"
    restored_by_call(scene, new_ms)
    assert scene.tables.get(NAME).parameters == before


def test_a_time_before_the_oldest_names_the_oldest(scene: Scene) -> None:
    with scene.store.read() as connection:
        oldest = scene.retention.oldest_ms(connection)
    with pytest.raises(InvalidInput, match=re.escape(text(oldest))):
        scene.restores.restore(NAME, oldest - 1)
    with pytest.raises(InvalidInput, match="must be before"):
        scene.history.past(NAME, oldest + 10**10)


@pytest.mark.parametrize("at_ms", [-(2**63), -1, 2**63 - 1])
def test_no_time_is_too_far_away_to_be_named(scene: Scene, at_ms: int) -> None:
    for ask in (scene.history.past, scene.restores.restore):
        with pytest.raises(InvalidInput, match=r"found a time of |, found "):
            ask(NAME, at_ms)


def test_a_table_that_was_not_there_has_no_past(scene: Scene) -> None:
    with pytest.raises(NoSuchObject, match="none table not found"):
        scene.history.writes(TableName("hive", "default", "none"))
    scene.tables.drop(NAME, delete_data=False)
    with pytest.raises(NoSuchObject, match="make it again"):
        scene.restores.restore(NAME, scene.now())


def test_a_table_that_was_made_since_keeps_what_it_has(scene: Scene) -> None:
    at_ms, other = scene.second_before(), TableName("hive", "default", "other")
    table = replace(scene.tables.get(NAME), id=None, name=other)
    for _ in range(2):  # once more, so that the first of them is gone
        scene.tables.create(table)
        scene.writer.update_table(other, of_partition(None, l=of_longs(0, 500)))
        before = scene.stored(other)
        assert before
        for ask in (scene.restores.restore, scene.history.past):
            with pytest.raises(NoSuchObject, match=r"other did not exist at"):
                ask(other, at_ms)
        assert scene.stored(other) == before
        scene.tables.drop(other, delete_data=False)


@pytest.mark.parametrize("change", ["made again", "renamed"])
def test_a_partition_that_was_made_since_keeps_what_it_has(scene: Scene, change: str) -> None:
    at_ms, new = scene.second_before(), Partition(values=("3",), storage=STORAGE)
    scene.partitions.add(NAME, [new])
    scene.write(3, 0, 500)
    if change == "made again":
        scene.partitions.drop(NAME, ["3"], delete_data=False)
        scene.partitions.add(NAME, [new])
        scene.write(3, 0, 600)
    else:
        scene.moves.rename(NAME, ["3"], replace(new, values=("4",), created_seconds=int(time.time())))
    before = scene.stored()
    assert before
    scene.write(1, 0, 500)
    assert scene.history.past(NAME, at_ms, partitions=[]).sets == []
    scene.restores.restore(NAME, at_ms)
    assert scene.stored() == before


@pytest.mark.parametrize("stated", ["no time", "a later time"])
@pytest.mark.parametrize("change", ["altered", "renamed"])
def test_a_partition_is_as_old_as_it_was_before_an_alter_stated_another_time(
    scene: Scene, stated: str, change: str
) -> None:
    """Trino states none; programs that make a new struct state that of the alter."""
    before_ms, new = scene.second_before(), Partition(values=("3",), storage=STORAGE)
    scene.partitions.add(NAME, [new])
    scene.write(3, 0, 500)
    made_ms, made = scene.second_before(), scene.stored()
    seconds = 0 if stated == "no time" else int(time.time()) + 1
    if change == "altered":
        scene.partitions.alter(NAME, [replace(new, created_seconds=seconds)])
    else:
        scene.moves.rename(NAME, ["3"], replace(new, values=("4",), created_seconds=seconds))
    assert scene.past(made_ms) == made
    assert scene.past(before_ms) == []
    now = scene.stored()
    scene.restores.restore(NAME, before_ms)
    assert scene.stored() == now


def test_what_there_is_now_is_told_by_a_clock_that_was_put_back_too(scene: Scene) -> None:
    scene.write(None, 0, 500)
    scene.write(1, 0, 500)
    retention = replace(scene.retention, clock=lambda: time.time() - 86_400)
    history = StatisticsHistory(scene.store, retention)
    found = [*history.past(NAME, None).sets, *history.past(NAME, None, partitions=[]).sets]
    assert [each.partition for each in found] == [None, "p=1"]


def test_the_writes_of_a_table_are_listed_newest_first(scene: Scene) -> None:
    token = caller.set(Caller("ada", "update_table_column_statistics"))
    scene.write(None, 0, 500)
    caller.reset(token)
    scene.now()
    scene.writer.delete_partitions(NAME, ["p=1"], ["l"], None)
    deleted, written = scene.history.writes(NAME).writes
    assert (deleted.columns, deleted.partitions, deleted.writer) == (("l",), ("p=1",), None)
    assert (written.columns, written.partitions) == (("l", "s"), ())
    assert (written.writer, written.call) == ("ada", "update_table_column_statistics")
    assert [each.columns for each in scene.history.writes(NAME, "s").writes] == [("l", "s")]


def test_an_old_day_keeps_its_first_state_alone_and_then_nothing(store: Store, tmp_path: Path) -> None:
    hours = [0.0]
    retention = Retention(full_days=2, days=10, clock=lambda: time.time() + hours[0] * 3_600)
    scene = Scene(store, tmp_path, retention)
    scene.write(None, 0, 500)
    for stop in (600, 700, 800):
        scene.now()
        scene.write(None, 0, stop)
    with store.read() as connection:
        full = purge.size_bytes(connection)
    hours[0] = 24 * 5
    HistoryUpkeep(store, retention).run()
    assert scene.past(int((time.time() - 0.001) * 1000)) == []  # as of the beginning, before the first write
    with store.read() as connection:
        rows = connection.execute(select(func.count()).select_from(HMSTATS_HISTORY_COLUMN)).scalar_one()
        assert rows == 2
    hours[0] = 24 * 20
    HistoryUpkeep(store, retention).run()
    for table in (HMSTATS_HISTORY_COLUMN, HMSTATS_HISTORY_SKETCH):
        with store.read() as connection:
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
    assert full


def test_a_lock_keeps_a_restore_out(scene: Scene) -> None:
    before, at_ms = scene.stored(), scene.now()
    written(scene)
    after = scene.stored()
    locks, column = StatisticsLocks(scene.store), LockedObject(DatabaseName("hive", "default"), "t", "p=1", ("l",))
    locks.lock(column, reason=None, author="ada")
    for dry_run in (True, False):
        with pytest.raises(LockedStatistics, match=r"^statistics of table default\.t are not restored: a lock covers"):
            scene.restores.restore(NAME, at_ms, dry_run=dry_run)
    assert scene.stored() == after
    locks.unlock(column)
    scene.restores.restore(NAME, at_ms)
    assert scene.stored() == before


def test_without_history_nothing_is_kept(store: Store, tmp_path: Path) -> None:
    scene = Scene(store, tmp_path)
    scene.write(None, 0, 500)
    scene.write(None, 0, 600)
    off = Retention(full_days=0)
    HistoryUpkeep(store, off).run()
    with pytest.raises(InvalidInput, match="history_days is 0"):
        StatisticsHistory(store, off).writes(NAME)
    with store.read() as connection:
        assert connection.execute(select(func.count()).select_from(HMSTATS_HISTORY)).scalar_one() == 0

"""Partitions in memory: answers are those of the database, whatever was written in between."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update
from tests.fixtures.databases.statements import StatementCounter

from hmstats.errors import MetaError
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import Column, Partition, Storage, Table, TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.catalog.databases.databases import Databases
from hmstats.service.catalog.partitions import known_partitions
from hmstats.service.catalog.partitions import partitions as partition_calls
from hmstats.service.catalog.partitions.known_partitions import KnownPartitions
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partition_moves import PartitionMoves
from hmstats.service.catalog.partitions.partitions import Partitions, TablePartitions
from hmstats.service.catalog.tables.alter_table import AlterOptions, TableAlterations
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.catalog.tables.truncate import Truncation
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.changes import touched_partitions, versions
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.schema import PARTITIONS
from hmstats.store.unit.unit import Unit
from hmstats.wire.partitions import partition_bytes

COLUMNS = (Column("c", "bigint"), Column("d", "string"))
NAME, OTHER = TableName("hive", "default", "t"), TableName("hive", "default", "u")
STORAGE = Storage(columns=COLUMNS)
COUNT = 30
FILTER = "n = 1 and s < '2'"


class World:
    """Two tables that are alike, and their partitions as they are found with a memory and without one."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.warehouse = store, Warehouse(str(folder))
        Databases(store, self.warehouse).ensure_default()
        self.tables = Tables(store, self.warehouse)
        for name in (NAME, OTHER):
            keys = (Column("n", "int"), Column("s", "string"))
            self.tables.create(Table(name=name, storage=STORAGE, partition_keys=keys))
        self.changes, self.moves = PartitionChanges(store, self.warehouse), PartitionMoves(store, self.warehouse)
        self.plain = Partitions(store)
        self.keep()
        self.changes.add(NAME, [new(each) for each in range(COUNT)])

    def keep(self, most_bytes: int = 2**20) -> BoundedMemory:
        """Let the partitions be kept in so much memory."""
        self.memory = BoundedMemory(most_bytes)
        self.known = Partitions(self.store, KnownPartitions(self.store, self.memory))
        return self.memory

    def compare(self, name: TableName = NAME) -> None:
        """Both ways give the same bytes to each question."""
        with self.store.read() as connection:
            table = self.plain.all_names(name)[0]
            there = partitions.names(connection, table.id)
        asked = [*there[::3], "n=1/s=none", there[0] if there else "n=2/s=x"]
        questions: list[Callable[[Partitions], TablePartitions]] = [
            lambda of: of.by_names(name, asked),
            lambda of: of.filtered(name, FILTER),
            lambda of: of.filtered(name, FILTER, 3),
            lambda of: of.matching(name, ["1", ""]),
            lambda of: of.matching(name, ["", there[0].rpartition("=")[2] if there else "x"], 1),
            lambda of: of.all(name, 5),
            lambda of: of.all(name),
        ]
        for question in questions:
            known, plain = question(self.known), question(self.plain)
            assert (known.table, list(known.partitions)) == (plain.table, list(plain.partitions))
            assert known.partitions == plain.partitions
            encoded = [partition_bytes.listed_result(name, each.partitions.columns) for each in (known, plain)]
            assert encoded[0] == encoded[1]
        assert self.known.all_names(name) == self.plain.all_names(name)
        for limit in (-1, 0, 3, partition_calls._FEW_NAMES + 1):
            assert self.known.names(name, limit) == self.plain.names(name, limit)

    def change(self, chance: random.Random, step: int) -> None:
        """Make one change of some kind, of partitions whose directories can be moved."""
        there = [each for each in self.plain.all(NAME).partitions.values() if "elsewhere" not in str(each.storage)]
        some = chance.sample(there, min(2, len(there)))
        kinds = [self.add, self.alter, self.drop, self.rename, self.analyze, self.rewrite, self.exchange]
        kind = chance.choice([*kinds, self.change_table])
        kind(some, step)

    def add(self, some: list[Partition], step: int) -> None:
        """Add partitions."""
        self.changes.add(NAME, [new(step * 100 + each) for each in range(3)])

    def alter(self, some: list[Partition], step: int) -> None:
        """Alter parameters, times and places."""
        place = f"{self.warehouse.root}/elsewhere/{step}"
        for each, storage in zip(some, (STORAGE, replace(STORAGE, location=place, buckets=step)), strict=False):
            altered = replace(each, parameters={"numRows": str(step)}, storage=storage, created_seconds=step)
            self.changes.alter(NAME, [altered])

    def drop(self, some: list[Partition], step: int) -> None:
        """Drop partitions, and make one of them again."""
        self.changes.drop_many(NAME, list(map(name_of, some)), if_exists=False, delete_data=True)
        self.changes.add(NAME, [replace(each, id=None, storage=STORAGE) for each in some[:1]])

    def rename(self, some: list[Partition], step: int) -> None:
        """Rename a partition, and let another one have its name."""
        for each, values in zip(some, (("1", f"{step}-renamed"), some[0].values if some else ()), strict=False):
            self.moves.rename(NAME, each.values, replace(each, values=values))

    def analyze(self, some: list[Partition], step: int) -> None:
        """Write statistics, which marks their columns as accurate, and delete some."""
        data = (ColumnStatistics("c", "bigint", LongStatistics(nulls=0, ndv=step)),)
        writer = StatisticsWriter(self.store)
        writer.update_partitions(NAME, [StatisticsSet(data, name_of(each)) for each in some])
        for each in some[1:]:
            writer.delete_partitions(NAME, [name_of(each)], ["c"], None)

    def rewrite(self, some: list[Partition], step: int) -> None:
        """Alter the table with all of its partitions, and empty some."""
        table = self.tables.get(NAME)
        assert table.storage is not None
        columns = (*COLUMNS, Column(f"e{step}", "int"))
        changed = replace(table, storage=replace(table.storage, columns=columns))
        TableAlterations(self.store, self.warehouse).alter(NAME, changed, AlterOptions(cascade=True))
        Truncation(self.store, self.warehouse).truncate(NAME, list(map(name_of, some)))
        self.compare()
        changed = replace(table, storage=replace(table.storage, columns=COLUMNS))
        TableAlterations(self.store, self.warehouse).alter(NAME, changed, AlterOptions(cascade=True))

    def change_table(self, some: list[Partition], step: int) -> None:
        """Alter a parameter of the table, and write its own statistics."""
        table = self.tables.get(NAME)
        parameters = {**table.parameters, "step": str(step)}
        TableAlterations(self.store, self.warehouse).alter(NAME, replace(table, parameters=parameters))
        data = (ColumnStatistics("c", "bigint", LongStatistics(nulls=0, ndv=step)),)
        StatisticsWriter(self.store).update_table(NAME, StatisticsSet(data))

    def exchange(self, some: list[Partition], step: int) -> None:
        """Move a partition to the other table and back."""
        for each in some[:1]:
            spec = dict(zip(("n", "s"), each.values, strict=True))
            for source, target in ((NAME, OTHER), (OTHER, NAME)):
                self.moves.exchange(spec, source, target)
                self.compare(OTHER)


@pytest.fixture
def world(store: Store, tmp_path: Path) -> World:
    """A table with partitions of which none is known."""
    return World(store, tmp_path)


def new(number: int) -> Partition:
    counts = {"numRows": str(number), "COLUMN_STATS_ACCURATE": '{"BASIC_STATS":"true"}'}
    return Partition(values=(str(number % 3), str(number)), storage=STORAGE, parameters=counts)


def name_of(partition: Partition) -> str:
    return partition_name(["n", "s"], partition.values)


@pytest.mark.parametrize("seed", range(3))
def test_after_random_changes_answers_are_those_of_the_database(
    world: World, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(touched_partitions, "MOST_NAMED", 2)  # a change of more may have touched everything
    chance = random.Random(seed)
    world.compare()
    for step in range(1, 25):
        world.change(chance, step)
        if chance.random() < 0.7:
            world.compare()


KINDS = ["add", "alter", "drop", "rename", "analyze", "rewrite", "change_table", "exchange"]


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_change_answers_are_those_of_the_database(world: World, kind: str) -> None:
    for step in (1, 2):
        world.compare()
        getattr(world, kind)([*world.plain.all(NAME).partitions.values()][:2], step)
        world.compare()


def test_partitions_that_are_known_are_not_read_again(world: World, statements: StatementCounter) -> None:
    asked = [name_of(new(each)) for each in range(COUNT)]
    world.known.by_names(NAME, asked)
    with statements() as of_names:
        assert list(world.known.by_names(NAME, asked[:7]).partitions) == sorted(asked[:7])
    with statements() as of_filter:
        assert world.known.filtered(NAME, FILTER).partitions
    # The table with its version; how many names there are, these, and those that the filter selects.
    assert (len(of_names), len(of_filter)) == (1, 4)
    world.alter([new(4)], 1)
    with statements() as after_change:
        world.known.by_names(NAME, asked[10:])
    assert len(after_change) == 2  # which partitions were touched
    world.change_table([], 1)
    with statements() as after_change_of_table:
        world.known.by_names(NAME, asked[10:])
    assert len(after_change_of_table) == 2


def test_formats_that_were_read_apart_are_encoded_once(world: World) -> None:
    for number in range(5):
        world.known.by_names(NAME, [name_of(new(number))])
    found = world.known.by_names(NAME, [name_of(new(each)) for each in range(7)]).partitions.columns
    assert len(found.formats) == 7
    assert len({*map(id, found.formats)}) == 1


def test_a_filter_over_known_names_asks_no_database(world: World, statements: StatementCounter) -> None:
    expected = len(world.plain.filtered(NAME, FILTER).partitions)
    counts = []
    for step in range(7):
        if step == 5:
            world.alter([new(4)], step)
        with statements() as sent:
            assert len(world.known.filtered(NAME, FILTER).partitions) == expected
        counts.append(len(sent))
    # The table with its version; how many names there are, these, and those that the filter selects; what was touched.
    assert counts[1:5] == [4, 1, 1, 1]
    assert counts[5:] == [4, 1]


def test_a_key_whose_type_is_altered_is_compared_as_its_new_type(world: World) -> None:
    world.changes.add(NAME, [replace(new(100), values=("10", "x"))])
    for _ in range(4):
        world.known.filtered(NAME, "n < 10")
    table = world.tables.get(NAME)
    texts = replace(table, partition_keys=(Column("n", "string"), *table.partition_keys[1:]))
    TableAlterations(world.store, world.warehouse).alter(NAME, texts, AlterOptions())
    for _ in range(4):
        found = {each.values[0] for each in world.known.filtered(NAME, "n < '2'").partitions.values()}
        assert found == {"0", "1", "10"}


def test_names_of_a_large_table_are_not_read_for_a_filter(
    world: World, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_partitions, "_MOST_FILTERED", COUNT - 1)
    for are_listed in (False, True):
        if are_listed:
            world.alter([new(4)], 1)
            world.known.names(NAME)
        for _ in range(3):
            world.known.filtered(NAME, FILTER)
        with statements() as sent:
            world.known.filtered(NAME, FILTER)
        assert len(sent) == 2  # the table with its version; the names that the filter selects
    world.compare()


def test_names_that_are_known_are_not_read_again(world: World, statements: StatementCounter) -> None:
    before = world.known.names(NAME)
    world.add([], 1)
    counts = []
    for _ in range(2):
        with statements() as sent:
            assert set(world.known.names(NAME)).difference(before) == {"n=1/s=100", "n=2/s=101", "n=0/s=102"}
        counts.append(len(sent))
    assert counts == [3, 1]  # the table with its version; the partitions that were touched, and those that are there


@pytest.mark.parametrize(("most_bytes", "kept"), [(4_000, False), (6_000, True)])
def test_names_take_half_of_the_memory_at_most(world: World, most_bytes: int, kept: bool) -> None:
    memory = world.keep(most_bytes)
    assert world.known.names(NAME) == world.plain.names(NAME)
    assert (memory.size > 0) is kept


def test_what_a_question_does_not_know_is_read_by_as_many_statements_as_all(
    world: World, statements: StatementCounter
) -> None:
    asked = [name_of(new(each)) for each in range(COUNT)]
    with statements() as unknown:
        world.known.by_names(NAME, asked[:10])
    with statements() as some_unknown:
        world.known.by_names(NAME, asked)
    with statements() as plainly:
        world.plain.by_names(NAME, asked)
    assert len(unknown) == len(some_unknown) == len(plainly)


def test_a_snapshot_from_before_a_change_has_what_was_there(world: World) -> None:
    def answers() -> tuple[Mapping[str, Partition], list[str]]:
        asked = [name_of(new(each)) for each in range(5)]
        return world.known.by_names(NAME, asked).partitions, world.known.names(NAME)

    before = answers()
    with world.store.one_snapshot():
        assert answers() == before
        with world.store.outside_snapshot():
            world.alter([new(each) for each in range(2)], 1)
            world.drop([new(each) for each in range(2, 4)], 1)
            after = answers()
        assert (after[0] != before[0], after[1] != before[1]) == (True, True)
        assert answers() == before
    assert answers() == after


def test_an_answer_about_named_partitions_is_of_these(world: World) -> None:
    asked = [name_of(new(0)), "n=1/s=none"]
    noted: list[frozenset[str] | None] = []
    for question in (
        lambda: world.known.by_names(NAME, asked),
        lambda: world.known.get(NAME, ["0", "0"]),
        lambda: world.known.by_name(NAME, "s=0/n=0"),
        lambda: world.known.filtered(NAME, FILTER),
    ):
        with versions.noting_reads() as reads:
            question()
        noted += [each.partitions for each in reads.values()]
    assert noted == [frozenset(asked), frozenset(asked[:1]), frozenset(asked[:1]), None]


def test_a_change_that_is_only_tried_is_not_kept(world: World) -> None:
    asked = [name_of(new(0))]
    before = world.known.by_names(NAME, asked).partitions

    def change(unit: Unit) -> None:
        unit.connection.execute(update(PARTITIONS).values(CREATE_TIME=77))

    world.memory.clear()
    tried = world.store.try_change(change, lambda: world.known.by_names(NAME, asked).partitions)
    assert tried[asked[0]].created_seconds == 77
    assert world.known.by_names(NAME, asked).partitions == before


def test_what_was_read_before_the_memory_was_cleared_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = partitions.get_many

    def read_and_clear(*given: object) -> object:
        found = real(*given)  # type: ignore[arg-type]
        world.memory.clear()
        return found

    monkeypatch.setattr(partitions, "get_many", read_and_clear)
    assert world.known.by_names(NAME, [name_of(new(0))]).partitions
    assert len(world.memory) == 0


@pytest.mark.parametrize("most_bytes", [0, 100, 10_000, 30_000])
def test_a_memory_that_is_too_small_changes_no_answer(world: World, most_bytes: int) -> None:
    memory = world.keep(most_bytes)
    for step in (1, 2):
        world.compare()
        world.alter([new(each) for each in range(2)], step)
    assert memory.size <= most_bytes


def test_partitions_of_too_many_formats_are_read_each_time(
    world: World, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_partitions, "_MOST_FORMATS", 3)
    for number in range(1, 6):
        world.changes.alter(NAME, [replace(new(number), storage=replace(STORAGE, buckets=number))])
    world.compare()
    with statements() as of_shared:
        world.known.by_names(NAME, [name_of(new(each)) for each in (7, 8, 9)])
    with statements() as of_own:
        world.known.by_names(NAME, [name_of(new(each)) for each in range(1, 6)])
    assert (len(of_shared), len(of_own) > 1) == (1, True)
    world.compare()


def test_a_large_question_leaves_the_memory_to_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_partitions, "_MOST_ASKED", COUNT - 1)
    world.known.all(NAME)
    world.known.by_names(NAME, [name_of(new(each)) for each in range(COUNT)])
    assert len(world.memory) == 0
    world.compare()
    assert len(world.memory) > 0


def test_a_database_beside_a_hive_is_read_each_time(world: World) -> None:
    world.store.shape = replace(world.store.shape, hive="4.0.0")
    world.compare()
    assert len(world.memory) == 0


def test_a_limit_of_partitions_holds_for_known_ones(world: World) -> None:
    limited = Partitions(world.store, KnownPartitions(world.store, world.memory), most_listed=COUNT - 1)
    world.known.all(NAME)
    with pytest.raises(MetaError, match="exceeds limit"):
        limited.all(NAME)
    assert len(limited.filtered(NAME, FILTER).partitions) == len(world.plain.filtered(NAME, FILTER).partitions)


def test_a_table_that_is_made_again_has_its_own_partitions(world: World) -> None:
    asked = [name_of(new(each)) for each in range(5)]
    world.known.by_names(NAME, asked)
    table = world.tables.get(NAME)
    world.tables.drop(NAME, delete_data=True)
    world.tables.create(replace(table, id=None, storage=STORAGE))
    assert world.known.by_names(NAME, asked).partitions == {}
    world.changes.add(NAME, [new(0)])
    world.compare()

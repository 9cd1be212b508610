"""Unions from blocks are those of the partitions' own vectors, whatever was written, dropped or added since."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.block_world import COUNT, World, make_small, own_world, vector
from tests.service.statistics.filled import NAME, of_partition

from hmstats.errors import MissingStatistics
from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.reading import partition_blocks
from hmstats.service.statistics.reading.aggregate import Aggregate, StatisticsAggregator
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_VECTOR_BLOCK, HMSTATS_VECTOR_INDEX, PART_COL_STATS
from hmstats.store.statistics import table_facts
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Unit


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few partitions make several blocks."""
    make_small(monkeypatch)


@pytest.fixture
def world(store: Store, tmp_path: Path) -> World:
    """Partitions with vectors of many values, and their blocks."""
    made = World(store, tmp_path)
    made.write(made.there, 0, 400)
    made.check()
    made.blocks.run()
    assert made.count() == COUNT // 8
    return made


NUMBERS = st.integers(0, 30)
SOME = st.lists(NUMBERS, min_size=1, max_size=30, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            SOME,
            st.sampled_from([0, 1, 500]),
            st.sampled_from([0, 3, 30, 400, 3_000]),
            st.sampled_from([8, 8, 8, 10]),
            st.sampled_from(["hive", "hive", "hive", "spark"]),
        ),
        st.tuples(st.sampled_from(["delete", "drop", "add", "change_table"]), NUMBERS),
        st.tuples(st.just("check"), st.one_of(st.none(), SOME), st.sampled_from(["hive", "spark"])),
        st.just(("build",)),
    ),
    min_size=3,
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_answers_are_those_of_the_vectors(sqlite_template: Path, steps: list[tuple[Any, ...]]) -> None:
    with own_world(sqlite_template, World) as world:
        world.write(world.there, 0, 400)
        for step, *arguments in [("check",), ("build",), *steps, ("check",)]:
            (world.blocks.run if step == "build" else getattr(world, step))(*arguments)


def test_any_partitions_are_united_from_blocks(world: World) -> None:
    assert world.uses_blocks()
    for numbers in (world.there, world.there[::2], world.there[5:29], world.there[::7]):
        world.check(numbers)


def test_a_write_leaves_the_other_partitions_to_their_blocks(world: World) -> None:
    world.write([9], 500, 3_000)
    assert world.uses_blocks()
    world.check()
    world.check(world.there[::2])
    world.drop(17)
    world.add(100)
    world.check()
    world.write([100], 700, 3_000)
    world.check()


def test_after_many_writes_only_their_blocks_are_built_again(world: World) -> None:
    before = blocks_by_key(world)
    for number in (1, 2, 9):
        world.write([number], 500, 3_000)
    world.write([*range(10, 14)], 500, 3_000)
    world.check()
    world.blocks.run()
    after = blocks_by_key(world)
    assert [before[key] == after[key] for key in sorted(before)] == [False, False, True, True, True]
    assert world.uses_blocks()
    world.check()


def blocks_by_key(world: World) -> dict[int, bytes]:
    """What each block keeps."""
    with world.store.read() as connection:
        query = select(HMSTATS_VECTOR_BLOCK.c.LOW_ID, HMSTATS_VECTOR_BLOCK.c.LISTED)
        return {low_id: bytes(data) for low_id, data in connection.execute(query)}


def test_new_partitions_get_blocks_of_their_own(world: World) -> None:
    for number in range(200, 210):
        world.add(number)
        world.write([number], 0, 400)
    world.check()
    world.blocks.run()
    assert world.count() == COUNT // 8 + 2
    world.check()


def test_a_change_of_the_table_itself_leaves_all_blocks(world: World) -> None:
    before = blocks_by_key(world)
    world.change_table(1)
    world.write([9], 500, 3_000)
    world.change_table(2)
    assert world.uses_blocks()
    world.check()
    world.blocks.run()
    assert blocks_by_key(world) == before


def test_a_change_that_names_no_partitions_builds_all_again(world: World) -> None:
    before = blocks_by_key(world)
    world.change_anything()
    assert not world.uses_blocks()
    world.blocks.run()
    assert world.uses_blocks()
    assert blocks_by_key(world) == before


def test_who_has_built_rests(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_blocks, "_RESTS", 1_000_000)
    world.blocks.run()
    world.change_anything()
    for _ in range(2):
        world.check()
        world.blocks.run()
    assert not world.uses_blocks()
    monkeypatch.setattr(world.blocks, "_rests_until", 0.0)
    world.blocks.run()
    assert world.uses_blocks()


def test_a_change_that_is_only_tried_is_seen_without_blocks(world: World) -> None:
    names = [f"p={each}" for each in world.there]
    before = world.by_blocks.partitions(NAME, names, ["l"], "hive")

    def change(unit: Unit) -> None:
        target = table_facts.find(unit.connection, NAME)
        assert target is not None
        values = {"BIT_VECTOR": vector(90_000, 9_000, 8)}
        unit.connection.execute(update(PART_COL_STATS).values(values))  # as if published, of the version before

    def tried(aggregator: StatisticsAggregator) -> Aggregate:
        return world.store.try_change(change, lambda: aggregator.partitions(NAME, names, ["l"], "hive"))

    assert tried(world.by_blocks) == tried(world.plainly) != before
    assert world.by_blocks.partitions(NAME, names, ["l"], "hive") == before


def test_a_block_that_cannot_be_read_is_not_used(world: World) -> None:
    with world.store._pools.writers.begin() as connection:
        connection.execute(update(HMSTATS_VECTOR_BLOCK).values(LISTED=b"broken"))
    world.check(world.there[::2])


def test_a_vector_that_cannot_be_read_is_in_no_block(world: World) -> None:
    broken = vector(3, 400, 8)[:-1]
    with world.store._pools.writers.begin() as connection:
        some = select(PART_COL_STATS.c.CS_ID).order_by(PART_COL_STATS.c.CS_ID).limit(3).scalar_subquery()
        connection.execute(update(PART_COL_STATS).where(PART_COL_STATS.c.CS_ID.in_(some)).values(BIT_VECTOR=broken))
    world.change_anything()
    world.check()
    world.blocks.run()
    world.check()
    world.check(world.there[::2])


def test_a_table_that_is_dropped_leaves_nothing(world: World, tmp_path: Path) -> None:
    Tables(world.store, Warehouse(str(tmp_path))).drop(NAME, delete_data=False)
    assert (world.count(), world.count(HMSTATS_VECTOR_INDEX)) == (0, 0)


def test_distinct_counts_of_questions_come_from_blocks(world: World) -> None:
    reader = StatisticsReader(world.store)
    by_blocks = StatisticsQuestions(world.store, reader, blocks=world.blocks)
    plainly = StatisticsQuestions(world.store, reader)
    for names in (None, [f"p={each}" for each in world.there[::2]]):
        assert by_blocks.distinct_count(NAME, "l", names, "hive") == plainly.distinct_count(NAME, "l", names, "hive")
    world.delete(6)
    for questions in (by_blocks, plainly):
        with pytest.raises(MissingStatistics, match="p=6"):
            questions.distinct_count(NAME, "l", [f"p={each}" for each in world.there], "hive")


def test_the_number_of_statements_does_not_grow_with_the_partitions(
    world: World, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    for numbers in (world.there[:16:2], world.there[::2]):
        with statements() as each:
            world.by_blocks.partitions(NAME, [f"p={number}" for number in numbers], ["l"], "hive")
        sent.append(len(each))
    assert sent[0] >= sent[1] - 2


def test_a_table_of_few_partitions_is_asked_for_no_blocks_however_many_columns(
    world: World, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_blocks, "FEWEST_VECTORS", COUNT + 1)
    columns = [f"c{number}" for number in range(20)]
    with world.store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        with statements() as sent:
            assert world.blocks.unions(connection, Scope(target.id, None, columns, "hive"), target.version) == {}
    assert len(sent) == 1  # the number of partitions
    assert not world.blocks._wanted


def test_columns_without_blocks_are_looked_for_at_once(world: World, statements: StatementCounter) -> None:
    columns = ["l", *(f"c{number}" for number in range(20))]
    sent = []
    for some in (columns[:2], columns):
        with world.store.read() as connection:
            target = table_facts.find(connection, NAME)
            assert target is not None
            with statements() as each:
                found = world.blocks.unions(connection, Scope(target.id, None, some, "hive"), target.version)
        assert [*found] == ["l"]
        sent.append(len(each))
    assert sent[0] == sent[1]
    assert sum(map(len, world.blocks._wanted.values())) == 20


def test_nothing_is_built_for_few_partitions_or_by_a_server_that_only_reads(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.store, "read_only", True)
    StatisticsWriter(Store.open(world.store._pools.writers.url.render_as_string(hide_password=False))).update_table(
        NAME, of_partition(None, l=LongStatistics(nulls=1, ndv=1))
    )
    world.check()
    assert not world.blocks._wanted

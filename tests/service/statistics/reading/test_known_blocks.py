"""Blocks in memory answer as those of the database, and are bounded and forgotten."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.block_world import COUNT, make_small
from tests.service.statistics.filled import NAME
from tests.service.statistics.reading.test_number_sums import COLUMNS, Numbers, answer, every_kind

from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading import known_blocks
from hmstats.store.database.store import Store
from hmstats.store.partitions.number_block import NumberBlock
from hmstats.store.partitions.number_blocks import TABLES
from hmstats.store.schema import HMSTATS_NUMBER_BLOCK, PART_COL_STATS
from hmstats.store.statistics import table_facts


@pytest.fixture
def world(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Numbers:
    """Partitions with numbers, and their blocks, none of which is in memory."""
    make_small(monkeypatch)
    made = Numbers(store, tmp_path)
    for number in made.there:
        made.put([number], every_kind(number))
    made.compare()
    made.blocks.run()
    return made


def names(numbers: list[int]) -> list[str]:
    return [f"p={each}" for each in numbers]


def lose(world: Numbers, *tables: Any) -> None:
    """Remove rows behind the back of everybody, so that only memory can tell what they said."""
    with world.store._pools.writers.begin() as connection:
        for table in tables:
            connection.execute(delete(table))


def test_other_partitions_are_answered_from_memory(world: Numbers, statements: StatementCounter) -> None:
    expected = {step: answer(world.plainly, names(world.there[::step]), "hive") for step in (1, 2, 3)}
    with statements() as first:
        assert answer(world.by_blocks, names(world.there), "hive") == expected[1]
    lose(world, HMSTATS_NUMBER_BLOCK, PART_COL_STATS)
    for step in (2, 3):
        with statements() as other:
            assert answer(world.by_blocks, names(world.there[::step]), "hive") == expected[step]
        assert len(other) == len(first) - 3  # of members, blocks and names


def test_blocks_that_were_not_asked_for_are_read(world: Numbers) -> None:
    expected = answer(world.plainly, names(world.there), "hive")
    answer(world.by_blocks, names(world.there[:8]), "hive")
    lose(world, PART_COL_STATS)
    assert answer(world.by_blocks, names(world.there), "hive") == expected


def test_whole_blocks_are_summed_up_once(world: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    summed, real = list[str](), NumberBlock.sums

    def note(block: NumberBlock, column: str, *subset: Any) -> Any:
        summed.append(column)
        return real(block, column, *subset)

    monkeypatch.setattr(NumberBlock, "sums", note)
    expected = answer(world.plainly, names(world.there), "hive")
    counts = []
    for asked in (world.there, world.there, world.there[1:], world.there):
        found = answer(world.by_blocks, names(asked), "hive")
        counts.append(len(summed))
    assert found == expected
    blocks = COUNT // 8
    assert [each // len(COLUMNS) for each in counts] == [blocks, blocks, blocks + 1, blocks + 1]


def test_what_was_written_since_is_read(world: Numbers) -> None:
    world.compare()
    for number in range(8):  # so many that blocks are built again
        world.put([number * 5], {"l": LongStatistics(low=-(10**9) - number, high=10**9, nulls=5, ndv=77)})
        world.compare()
        world.compare(world.there[::3])
    world.blocks.run()
    expected = answer(world.plainly, names(world.there), "hive")
    lose(world, PART_COL_STATS)
    assert answer(world.by_blocks, names(world.there), "hive") == expected


def test_an_older_database_is_read_again(world: Numbers) -> None:
    world.compare()
    world.memory.clear()
    lose(world, PART_COL_STATS, HMSTATS_NUMBER_BLOCK)
    assert answer(world.by_blocks, names(world.there), "hive")[1] == 0


@pytest.mark.parametrize("most_bytes", [0, 4_000, 20_000, 10**6])
def test_memory_is_bounded(world: Numbers, most_bytes: int) -> None:
    world.blocks._memory = memory = BoundedMemory(most_bytes)
    for step in (1, 2, 3):
        world.compare(world.there[::step])
        kept = sum(each.size for each in memory._entries.values())
        assert kept == memory.size <= most_bytes
    members, blocks, ids = len(COLUMNS), len(COLUMNS) * COUNT // 8, 1
    assert (len(memory) == members + 2 * blocks + ids) == (most_bytes == 10**6)  # each block with its sums


def while_reading(world: Numbers, memory: BoundedMemory, interrupt: Callable[[], None]) -> None:
    """Read all blocks of the column `l`, with something that happens behind the first."""
    with world.store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        index = TABLES.find(connection, target.id, ["l"])["l"]
        members = known_blocks.members(connection, [index], memory)[index.build]
        for _, low_id, _ in known_blocks.numbers(connection, [index], [each.low_id for each in members], memory):
            if low_id == members[0].low_id:
                interrupt()


def test_what_was_read_of_an_older_database_is_not_kept(world: Numbers) -> None:
    memory = BoundedMemory(10**6)
    while_reading(world, memory, memory.clear)
    assert (len(memory), memory.size) == (0, 0)
    while_reading(world, memory, lambda: None)
    assert len(memory) == 1 + COUNT // 8


def test_what_was_not_used_for_longest_goes_first() -> None:
    memory = BoundedMemory(10)
    for key in ("a", "b", "c"):
        memory.put(key, key, 3, 0)
    assert memory.get("a") == "a"
    memory.put("d", "d", 4, 0)
    assert [memory.get(key) for key in ("a", "b", "c", "d")] == ["a", None, "c", "d"]
    memory.put("a", "other", 1, 0)
    assert (memory.get("a"), memory.size) == ("other", 8)
    memory.put("huge", "huge", 11, 0)
    assert (memory.get("huge"), memory.size) == (None, 8)

"""Partitions that are known by name in memory are those of the database, whatever was renamed, dropped or added."""

from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.block_world import COUNT, make_small
from tests.service.statistics.reading.test_number_sums import Numbers, answer, every_kind

from hmstats.service.bounded_memory import BoundedMemory
from hmstats.service.statistics.reading import known_ids
from hmstats.store.database.store import Store
from hmstats.store.partitions import partitions
from hmstats.store.unit.unit import Connection


@pytest.fixture
def world(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Numbers:
    """Partitions with numbers, and their blocks."""
    make_small(monkeypatch)
    made = Numbers(store, tmp_path)
    made.put(made.there, every_kind(3))
    made.compare()
    made.blocks.run()
    made.compare()
    return made


def names(numbers: list[int]) -> list[str]:
    return [f"p={each}" for each in numbers]


def keep(world: Numbers, most_bytes: int) -> BoundedMemory:
    """Let the world keep so much in memory."""
    world.memory = world.blocks._memory = BoundedMemory(most_bytes)
    return world.memory


def are_known(memory: BoundedMemory) -> bool:
    """Whether the names of the table are in memory."""
    return any(isinstance(each.value, known_ids._Names) for each in memory._entries.values())


@pytest.mark.parametrize("built_again", [False, True])
def test_names_that_change(world: Numbers, built_again: bool) -> None:
    for step in ("rename", "drop", "add", "again"):
        if step == "rename":
            world.rename(3, 77)
        elif step == "drop":
            world.drop(9)
        elif step == "add":
            world.add(9)  # under another id
        else:
            world.rename(77, 3)
        if built_again:
            for number in (10, 11, 12, 13, 14, 15):  # more than are left to themselves
                world.put([number], every_kind(number))
            world.compare()
            world.blocks.run()
        world.compare()
        world.compare([3, 77, 9, 5, 6, 7, 8, 10, 1_000])


def test_names_that_no_partition_has_are_skipped(world: Numbers) -> None:
    asked = names([*world.there[:20], 1_000, 2_000])
    assert repr(answer(world.by_blocks, asked, "hive")) == repr(answer(world.plainly, asked, "hive"))


@pytest.mark.parametrize(("most_bytes", "kept"), [(0, False), (2 * 200 * COUNT - 1, False), (10**6, True)])
def test_names_take_half_of_the_memory_at_most(world: Numbers, most_bytes: int, kept: bool) -> None:
    memory = keep(world, most_bytes)
    for step in (1, 2, 3):
        world.compare(world.there[::step])
    assert are_known(memory) == kept


def test_names_of_many_more_partitions_than_asked_are_not_read(world: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = keep(world, 10**6)
    monkeypatch.setattr(known_ids, "_MOST_OF_EACH", 2)
    world.compare(world.there[: COUNT // 2 - 1])
    assert not are_known(memory)
    world.compare(world.there[: COUNT // 2])
    assert are_known(memory)


def test_an_older_database_is_read_again(world: Numbers, statements: StatementCounter) -> None:
    asked, sent = names(world.there), []
    for _ in range(2):
        world.memory.clear()
        with statements() as each:
            answer(world.by_blocks, asked, "hive")
        sent.append(len(each))
    assert sent[0] == sent[1]


def test_what_was_read_of_an_older_database_is_not_kept(world: Numbers, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, real = keep(world, 10**6), partitions.ids_by_name

    def read_and_clear(connection: Connection, table_id: int) -> dict[str, int]:
        found = real(connection, table_id)
        memory.clear()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(partitions, "ids_by_name", read_and_clear)
        world.compare()
    assert not are_known(memory)
    world.compare()
    assert are_known(memory)

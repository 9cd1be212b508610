"""Locks beside writes of other servers: a writer whose table is cached respects a lock that another one has set."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.statistics.filled import NAME, make_table, of_longs, of_partition

from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.statistics_by_field import FieldValues, KindOfColumn, StatisticsByField
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.service.catalog.tables.statistics_locks import StatisticsLocks
from hmstats.service.statistics.writing import last_written
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store
from hmstats.store.statistics import column_statistics, table_facts

DATABASE = DatabaseName("hive", "default")


@pytest.fixture
def servers(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Store]]:
    """Three servers of one database, which has table t with two partitions; two writes are a run."""
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", 2)
    make_table(store, tmp_path, [1, 2])
    url = store._pools.writers.url.render_as_string(hide_password=False)
    others = [Store.open(url) for _ in range(2)]
    yield [store, *others]
    for each in others:
        each.close()


def plain(partition: str | None, ndv: int) -> StatisticsByField:
    values = {"low": [1], "high": [9], "nulls": [0], "ndv": [ndv]}
    columns = [KindOfColumn("l", "bigint", Kind.LONG)]
    return StatisticsByField([partition], "hive", columns, [FieldValues(Kind.LONG, [0], values)])


def ndv(store: Store, partition: str | None) -> int | None:
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
        assert target is not None
        if partition is None:
            sets = column_statistics.read_table(connection, target.id, ["l"], None)
        else:
            sets = column_statistics.read_partitions(connection, target.id, [partition], ["l"], None)[partition]
    found: int | None = getattr(sets[0].columns[0].data, "ndv", None)
    return found


@pytest.mark.parametrize("partition", [None, "p=1"])
@pytest.mark.parametrize("table", [None, "t"])
def test_a_lock_of_another_server_counts_at_the_next_write(
    servers: list[Store], partition: str | None, table: str | None
) -> None:
    writer = StatisticsWriter(servers[0]).plain
    for number in range(1, 5):  # the table is cached, and written without being read
        assert writer.write(NAME, plain(partition, number), of_table=partition is None)
    locks = StatisticsLocks(servers[1])
    locks.lock(LockedObject(DATABASE, table), reason=None, author="ada")
    assert not writer.write(NAME, plain(partition, 5), of_table=partition is None)
    assert ndv(servers[2], partition) == 4
    locks.unlock(LockedObject(DATABASE, table))
    for number in (6, 7, 8):
        assert writer.write(NAME, plain(partition, number), of_table=partition is None)
    assert ndv(servers[2], partition) == 8


def test_a_lock_never_leaks_a_write_of_any_server(servers: list[Store]) -> None:
    chance = random.Random(5)
    writers = [StatisticsWriter(each) for each in servers]
    locks = [StatisticsLocks(each) for each in servers]
    of = [LockedObject(DATABASE, "t", each) for each in (None, "p=1", "p=2")]
    places = (None, "p=1", "p=2")
    held: set[str | None] = set()
    stored = dict.fromkeys(places, 0)
    for each in places:
        writers[0].plain.write(NAME, plain(each, 0), of_table=each is None)
    for number in range(1, 60):
        place, server = chance.choice(places), chance.randrange(3)
        if chance.random() < 0.15:
            locks[server].lock(of[places.index(place)], reason=None, author=None)
            held.add(place)
        elif chance.random() < 0.15:
            locks[server].unlock(of[places.index(place)])
            held.discard(place)
        else:
            writer, data = writers[server], of_longs(0, number)
            if not (number % 2 and writer.plain.write(NAME, plain(place, number), of_table=place is None)):
                statistics = of_partition(None if place is None else int(place[2:]), l=data)
                if place is None:
                    writer.update_table(NAME, statistics)
                else:
                    writer.update_partitions(NAME, [statistics])
            if None not in held and place not in held:
                stored[place] = number if ndv(servers[0], place) == number else data.ndv or 0
        assert {each: ndv(servers[(server + 1) % 3], each) for each in places} == stored


def test_a_lock_is_listed_as_it_was_set(servers: list[Store]) -> None:
    locks = StatisticsLocks(servers[0], refuse=True)
    locks.lock(LockedObject(DATABASE), reason="all", author="ada")
    (found,) = locks.listed("hive", "default", None)
    assert (found.refuse, found.reason, found.locked_by, found.object.table) == (True, "all", "ada", None)
    assert locks.unlock(LockedObject(DATABASE)) == 1
    assert locks.unlock(LockedObject(DATABASE)) == 0

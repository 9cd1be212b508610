"""Sums and streams of partitions' statistics, straight from the database."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, bit_vector, make_table, of_longs, of_partition

from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics
from hmstats.model.statistics.merge import MAX_I64
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store
from hmstats.store.statistics import aggregates, table_facts
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.statistics.column_sums import Summary
from hmstats.store.unit.unit import Connection

COUNT = 10
NOW_SECONDS = 1_700_000_000


@pytest.fixture
def scope(store: Store, tmp_path: Path) -> Scope:
    """All partitions of a table, of which every second has a bit vector of column l."""
    store._clock = lambda: NOW_SECONDS
    make_table(store, tmp_path, range(COUNT))
    plain = LongStatistics(low=-1, high=MAX_I64, nulls=MAX_I64, ndv=MAX_I64)
    sets = [of_partition(p, l=of_longs(10 * p, 10 * p + 10, histogram=True) if p % 2 else plain) for p in range(COUNT)]
    StatisticsWriter(store).update_partitions(NAME, sets)
    with store.read() as connection:
        target = table_facts.find(connection, NAME)
    assert target is not None
    return Scope(target.id, None, ["l", "s"], "hive")


def summaries(connection: Connection, scope: Scope) -> list[Summary]:
    """What the sums of a scope's columns come to."""
    return [found for each in aggregates.sums(connection, scope) if (found := each.summary())]


def test_a_summary_stays_within_a_long(store: Store, scope: Scope) -> None:
    with store.read() as connection:
        (found,) = summaries(connection, scope)
    statistics = LongStatistics(low=-1, high=MAX_I64, nulls=MAX_I64, ndv=MAX_I64)
    assert found == Summary(ColumnStatistics("l", "bigint", statistics), COUNT, COUNT // 2, MAX_I64, NOW_SECONDS)


def test_sums_are_exact(store: Store, scope: Scope) -> None:
    """As no float could hold them."""
    counts = [2**62, 2**61 + 1, 3]
    sets = [of_partition(p, m=LongStatistics(nulls=each, ndv=each)) for p, each in enumerate(counts)]
    StatisticsWriter(store).update_partitions(NAME, sets)
    with store.read() as connection:
        (found,) = summaries(connection, Scope(scope.table_id, ["p=0", "p=1", "p=2"], ["m"], "hive"))
    assert (found.statistics.data.nulls, found.ndv_sum) == (sum(counts), sum(counts))


@pytest.mark.parametrize(("engine", "only", "found"), [("hive", False, 5), ("trino", False, 5), ("trino", True, None)])
def test_one_engines_statistics_take_one_statement(
    store: Store, scope: Scope, statements: StatementCounter, engine: str, only: bool, found: int | None
) -> None:
    wanted = Scope(scope.table_id, [f"p={p}" for p in range(5)], ["l"], engine, only=only)
    with store.read() as connection, statements() as sent:
        made = summaries(connection, wanted)
    assert len(sent) == 1
    assert [each.partitions for each in made] == ([] if found is None else [found])


def test_of_several_engines_one_counts_in_each_partition(
    store: Store, scope: Scope, statements: StatementCounter
) -> None:
    """The asked one, else the newest: the sums are those of one engine's statistics that were written alike."""
    for engine, seconds in (("impala", NOW_SECONDS + 5), ("trino", NOW_SECONDS + 9)):
        store._clock = partial(float, seconds)
        sets = [of_partition(p, engine, l=LongStatistics(nulls=p, ndv=2 * p)) for p in (1, 2, 3)]
        StatisticsWriter(store).update_partitions(NAME, sets)
    wanted = Scope(scope.table_id, ["p=1", "p=2", "p=3"], ["l"], "spark")
    with store.read() as connection, statements() as sent:
        (found,) = summaries(connection, wanted)
        (alone,) = summaries(connection, replace(wanted, engine="trino", only=True))
    assert found == alone
    assert (found.partitions, found.ndv_sum, found.analyzed_seconds) == (3, 12, NOW_SECONDS + 9)
    assert len(sent) == 3


@pytest.mark.parametrize("rows_at_once", [1, 3, 5, 1000])
def test_sketches_come_in_batches_of_limited_size(
    store: Store, scope: Scope, rows_at_once: int, statements: StatementCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregates, "_ROWS_AT_ONCE", rows_at_once)
    with store.read() as connection, statements() as sent:
        batches = list(aggregates.bit_vectors(connection, replace(scope, columns=["l"])))
    assert len(sent) == 1 + -(-COUNT // rows_at_once)
    assert max(map(len, batches)) <= rows_at_once
    found = {partition: content for batch in batches for _, partition, content in batch}
    assert found == {f"p={p}": bit_vector(10 * p, 10 * p + 10) for p in range(1, COUNT, 2)}


def test_histograms_come_likewise(store: Store, scope: Scope) -> None:
    with store.read() as connection:
        (batch,) = aggregates.histograms(connection, scope)
    assert {(column, partition) for column, partition, _ in batch} == {("l", f"p={p}") for p in range(1, COUNT, 2)}


def test_numbers_come_partition_by_partition_without_sketches(store: Store, scope: Scope) -> None:
    with store.read() as connection:
        found = dict(aggregates.numbers(connection, Scope(scope.table_id, ["p=1", "p=3", "p=99"], ["l"], "hive")))
    assert found == {
        f"p={p}": ColumnStatistics("l", "bigint", LongStatistics(low=10 * p, high=10 * p + 9, nulls=1, ndv=10))
        for p in (1, 3)
    }

"""Batches keep the order, lose nothing, and stay below their limits."""

from hypothesis import given
from hypothesis import strategies as st

from hmstats.client.connection.batches import COLUMNS_A_CALL, PARTITIONS_A_CALL, batches, batches_by_columns
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet


@given(st.lists(st.integers()), st.integers(1, 10))
def test_batches_hold_everything_in_order(items: list[int], size: int) -> None:
    cut = list(batches(items, size))
    assert [item for batch in cut for item in batch] == items
    assert all(len(batch) == size for batch in cut[:-1])
    assert all(0 < len(batch) <= size for batch in cut)


@given(st.lists(st.integers(0, 2 * COLUMNS_A_CALL), max_size=20))
def test_sets_are_counted_by_their_columns(widths: list[int]) -> None:
    sets = [statistics(str(number), width) for number, width in enumerate(widths)]
    cut = list(batches_by_columns(sets, columns=width))
    assert [each for batch in cut for each in batch] == sets
    for batch in cut:
        assert len(batch) == 1 or sum(len(each.columns) for each in batch) <= COLUMNS_A_CALL


def test_narrow_sets_are_counted_by_their_number() -> None:
    sets = [statistics(str(number), 1) for number in range(2 * PARTITIONS_A_CALL + 1)]
    assert [len(batch) for batch in batches_by_columns(sets, columns=width)] == [
        PARTITIONS_A_CALL,
        PARTITIONS_A_CALL,
        1,
    ]


def width(statistics: StatisticsSet) -> int:
    return len(statistics.columns)


def statistics(partition: str, columns: int) -> StatisticsSet:
    column = ColumnStatistics("a", "int", LongStatistics(nulls=0))
    return StatisticsSet((column,) * columns, partition)

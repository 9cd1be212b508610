from collections.abc import Iterator

import pytest
from tests.store.beside import rows_of, store_beside, twice
from tests.store.catalog_values import NAME, make_table

from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Data,
    LongStatistics,
    StatisticsSet,
)
from hmstats.store.database.store import Store
from hmstats.store.statistics import column_statistics


@pytest.fixture
def beside(hive_database: str) -> Iterator[Store]:
    with store_beside(hive_database) as store:
        yield store


def _write(store: Store, table_id: int, data: Data, column_type: str = "bigint") -> None:
    columns = (ColumnStatistics("id", column_type, data),)
    found = StatisticsSet(columns, last_analyzed_seconds=50)
    store.write(lambda unit: column_statistics.write_table(unit, table_id, NAME, found))


def test_a_write_leaves_one_row_the_newest(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5), (900_002, 30, 7), (900_003, 20, 6))
    _write(beside, table_id, LongStatistics(nulls=1, ndv=9))
    assert rows_of(beside) == [(900_002, 50, 9)]


def test_what_is_not_known_stays_as_the_newest_row_has_it(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5), (900_002, 30, 7))
    _write(beside, table_id, LongStatistics(nulls=1, ndv=None))
    assert rows_of(beside) == [(900_002, 50, None)]
    with beside.read() as connection:
        (found,) = column_statistics.read_table(connection, table_id, ["id"], None)
    assert found.columns[0].data == LongStatistics(low=3, high=8, nulls=1, ndv=None)


def test_a_column_of_another_type_keeps_nothing(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5))
    _write(beside, table_id, LongStatistics(nulls=1, ndv=None), "int")
    assert rows_of(beside) == [(900_001, 50, None)]


def test_a_column_that_has_no_distinct_count_any_more_has_none(beside: Store) -> None:
    table_id = make_table(beside)
    twice(beside, table_id, (900_001, 10, 5), (900_002, 30, 7))
    _write(beside, table_id, BooleanStatistics(trues=1, falses=2, nulls=0), "boolean")
    assert rows_of(beside) == [(900_002, 50, None)]
    with beside.read() as connection:
        (found,) = column_statistics.read_table(connection, table_id, ["id"], None)
    assert found.columns[0].data == BooleanStatistics(trues=1, falses=2, nulls=0)


def test_a_new_column_has_a_new_row(beside: Store) -> None:
    table_id = make_table(beside)
    _write(beside, table_id, LongStatistics(low=1, high=2, nulls=1, ndv=9))
    _write(beside, table_id, LongStatistics(low=1, high=4, nulls=1, ndv=8))
    ((_, analyzed, ndv),) = rows_of(beside)
    assert (analyzed, ndv) == (50, 8)

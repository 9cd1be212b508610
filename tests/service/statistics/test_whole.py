"""All statistics of a table and of its partitions in one answer, over both databases."""

from pathlib import Path

import pytest
from tests.fixtures.statements import StatementCounter
from tests.service.statistics.filled import NAME, TYPES, make_table, of_longs, of_partition

from hmstats.errors import NoSuchObject
from hmstats.model.catalog import TableName
from hmstats.model.column_statistics import BooleanStatistics
from hmstats.service.statistics.questions import StatisticsQuestions
from hmstats.service.statistics.read import StatisticsReader
from hmstats.service.statistics.whole import WholeStatistics
from hmstats.service.statistics.write import StatisticsWriter
from hmstats.store.engine import Store

PARTITIONS = 30


def whole(store: Store) -> WholeStatistics:
    plain, sketched = (StatisticsQuestions(store, StatisticsReader(store, sketches=each)) for each in (False, True))
    return WholeStatistics(store, plain=plain, sketched=sketched)


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """Partitions with statistics, all but the last."""
    make_table(store, tmp_path, range(PARTITIONS))
    sets = [of_partition(each, l=of_longs(0, 9), b=BooleanStatistics(trues=each)) for each in range(PARTITIONS - 1)]
    StatisticsWriter(store).update_partitions(NAME, sets)
    return store


def test_columns_and_partitions_come_whatever_has_statistics(filled: Store) -> None:
    found = whole(filled).read(NAME, None, [], "hive", sketches=False)
    assert [each.statistics.partition for each in found] == sorted(f"p={each}" for each in range(PARTITIONS))
    assert {each.name for each in found} == {NAME}
    assert {tuple(column.name for column in each.columns) for each in found} == {tuple(TYPES)}
    assert [len(each.statistics.columns) for each in found].count(2) == PARTITIONS - 1
    assert [(each.rows, each.rows_exact) for each in found] == [(None, False)] * PARTITIONS


def test_the_table_itself_has_no_statistics_of_its_own(filled: Store) -> None:
    (found,) = whole(filled).read(NAME, None, None, "hive", sketches=False)
    assert (found.statistics.partition, found.statistics.columns) == (None, ())


def test_sketches_are_read_when_they_are_asked_for(filled: Store) -> None:
    for sketches in (False, True):
        (found,) = whole(filled).read(NAME, ["l"], ["p=1"], "hive", sketches=sketches)
        (column,) = found.statistics.columns
        assert (getattr(column.data, "bit_vector", None) is not None) is sketches


def test_as_many_statements_for_one_partition_as_for_all(filled: Store, statements: StatementCounter) -> None:
    reader = whole(filled)
    with statements() as for_one:
        reader.read(NAME, None, ["p=1"], "hive", sketches=True)
    with statements() as for_all:
        reader.read(NAME, None, [f"p={each}" for each in range(PARTITIONS)], "hive", sketches=True)
    assert len(for_one) == len(for_all) <= 8


def test_a_table_that_is_not_there(store: Store) -> None:
    with pytest.raises(NoSuchObject, match="absent"):
        whole(store).read(TableName("hive", "default", "absent"), None, None, "hive", sketches=False)

"""All statistics of a table and of its partitions in one answer, over both databases."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, TYPES, make_table, of_longs, of_partition

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.model.parameters.basic_statistics import StatisticsSource
from hmstats.model.statistics.column_statistics import BooleanStatistics, StatisticsSet
from hmstats.model.statistics.provenance import Provenance
from hmstats.service.catalog.partitions.partition_changes import PartitionChanges
from hmstats.service.catalog.partitions.partitions import Partitions
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.questions.whole_statistics import WholeStatistics
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

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


def test_rows_that_were_all_seen_are_right_until_others_may_have_come(filled: Store, tmp_path: Path) -> None:
    """Who alters a partition without a word about statistics takes the marks away, and may leave the count."""
    seen = Provenance(exact=True, rows_seen=10, sample_fraction=1.0)
    (column,) = of_partition(1, l=of_longs(0, 9)).columns
    StatisticsWriter(filled).update_partitions(NAME, [StatisticsSet((replace(column, provenance=seen),), "p=1")])
    changes = PartitionChanges(filled, Warehouse(str(tmp_path)))
    stored = next(iter(Partitions(filled).by_names(NAME, ["p=1"]).partitions.values()))
    counted = replace(stored, parameters={**stored.parameters, "numRows": "10"})
    changes.alter(NAME, [counted], StatisticsSource.AS_GIVEN)
    (found,) = whole(filled).read(NAME, None, ["p=1"], "hive", sketches=False)
    assert (found.rows, found.rows_exact) == (10, True)
    changes.alter(NAME, [counted])
    (found,) = whole(filled).read(NAME, None, ["p=1"], "hive", sketches=False)
    assert (found.rows, found.rows_exact) == (10, False)

"""Which engine's statistics count is one rule, in Python and in SQL, for single partitions and for their sums."""

from functools import partial
from pathlib import Path

import pytest
from tests.service.statistics.filled import NAME, bit_vector, make_table, of_partition

from hmstats.model.statistics.column_statistics import LongStatistics
from hmstats.model.statistics.engine_choice import precedence
from hmstats.model.statistics.flat_statistics import flat
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.reading.aggregate import StatisticsAggregator
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.spark.spark_view import SparkView
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store

ENGINES = {"Zoo": 7, "impala": 5, "trino": 9, "_x": 6, "ärger": 8, "hive": 4}
"""Engines whose names languages and bytes sort differently, with the distinct counts that they write."""


def of_engine(name: str) -> LongStatistics:
    """What an engine writes."""
    return LongStatistics(nulls=0, ndv=ENGINES[name], bit_vector=bit_vector(0, ENGINES[name]))


@pytest.mark.parametrize("together", [True, False], ids=["in one second", "one after the other"])
@pytest.mark.parametrize("asked", ["hive", "spark"])
def test_all_ways_choose_the_same(store: Store, tmp_path: Path, together: bool, asked: str) -> None:
    make_table(store, tmp_path, range(2))
    writer, reader = StatisticsWriter(store), StatisticsReader(store)
    seconds = {engine: 1_000 if together else 1_000 + place for place, engine in enumerate(sorted(ENGINES))}
    for engine in ("trino", "Zoo", "hive", "ärger", "_x", "impala"):
        store._clock = partial(float, seconds[engine])
        statistics = of_engine(engine)
        writer.update_partitions(NAME, [of_partition(p, engine, l=statistics) for p in (0, 1)])
    expected = of_engine(max(ENGINES, key=lambda engine: precedence(engine, seconds[engine], asked)))
    names = ["p=0", "p=1"]
    (one, _) = reader.partitions(NAME, names, ["l"], asked)
    read = reader.flat_partitions(NAME, names, ["l"], asked, repaired=False, valid=None)
    summed = StatisticsAggregator(store).partitions(NAME, names, ["l"], asked)
    assert one.columns[0].data == expected
    assert read["p=1"] == [flat(one.columns[0])]
    assert [column.data for column in summed.columns] == [expected]
    assert StatisticsQuestions(store, reader).distinct_count(NAME, "l", names, asked).count == expected.ndv


@pytest.mark.parametrize("together", [True, False], ids=["in one second", "one after the other"])
@pytest.mark.parametrize("asked", ["hive", "spark"])
def test_all_ways_choose_the_same_of_a_table_itself(store: Store, tmp_path: Path, together: bool, asked: str) -> None:
    """Calls that name no engine ask for `hive`, which has written nothing in half of the cases."""
    make_table(store, tmp_path, ())
    writer, reader = StatisticsWriter(store), StatisticsReader(store)
    writers = [*ENGINES] if asked == "hive" else [engine for engine in ENGINES if engine != "hive"]
    seconds = {engine: 1_000 if together else 1_000 + place for place, engine in enumerate(sorted(writers))}
    for engine in writers:
        store._clock = partial(float, seconds[engine])
        writer.update_table(NAME, of_partition(None, engine, l=of_engine(engine)))
    best = max(writers, key=lambda engine: precedence(engine, seconds[engine], asked))
    whole = reader.table(NAME, ["l"], asked)
    assert whole is not None
    (column,) = whole.columns
    assert column.data == of_engine(best)
    assert reader.flat_table(NAME, ["l"], asked, repaired=False, valid=None) == [flat(column)]
    one = reader.table_column(NAME, "l")
    assert (one.engines, one.statistics) == ([best], [flat(column)])
    table = Tables(store, Warehouse(str(tmp_path))).get(NAME)
    with store.read() as connection:
        assert SparkView(store).rows(connection, table)["l"].statistics.data == column.data

"""Questions to stored sketches, over both databases."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, TYPES, make_table

from hmstats.errors import InvalidInput, MissingStatistics, NoSuchObject
from hmstats.model.catalog.objects import Column, Storage, Table, TableName
from hmstats.model.statistics.answers import DistinctCount
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    Kind,
    LongStatistics,
    StatisticsSet,
)
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.frequent_values import FrequentValue
from hmstats.model.statistics.provenance import Provenance
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_TOP_K, PART_COL_STATS, PARTITIONS

PARTITION_COUNT = 6
EVERY = [f"p={number}" for number in range(PARTITION_COUNT)]
FLAT = TableName("hive", "default", "flat")


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Store:
    """A partitioned table and an unpartitioned one with the same columns, neither with statistics."""
    make_table(store, tmp_path, range(PARTITION_COUNT))
    storage = Storage(columns=tuple(Column(name, kind) for name, kind in TYPES.items()))
    Tables(store, Warehouse(str(tmp_path))).create(Table(name=FLAT, storage=storage, table_type="EXTERNAL_TABLE"))
    return store


def questions(store: Store, *, any_engine: bool = True) -> StatisticsQuestions:
    return StatisticsQuestions(store, StatisticsReader(store, any_engine=any_engine), any_engine=any_engine)


def collected(column: str, values: Any, **more: Any) -> ColumnStatistics:
    """A column's statistics as the collector makes them."""
    kind = kind_of(TYPES[column])
    assert kind is not None
    made = ColumnAccumulator.empty(kind)
    made.update(values if isinstance(values, pa.Array) else pa.array(values))
    assert made.top_k is not None
    return ColumnStatistics(column, TYPES[column], made.statistics(), made.top_k.to_bytes(), **more)


def write(store: Store, number: int | None, *columns: ColumnStatistics, engine: str = "hive") -> None:
    """Write statistics of a partition, or of the partitioned table."""
    writer = StatisticsWriter(store)
    if number is None:
        writer.update_table(NAME, StatisticsSet(columns, None, engine))
    else:
        writer.update_partitions(NAME, [StatisticsSet(columns, f"p={number}", engine)])


def write_all(store: Store, column: str, parts: Iterable[Any]) -> None:
    sets = [StatisticsSet((collected(column, part),), f"p={number}") for number, part in enumerate(parts)]
    StatisticsWriter(store).update_partitions(NAME, sets)


def overwrite(store: Store, table: Any, partition: str, **values: Any) -> None:
    """Change a partition's stored row as another program would."""
    ids = select(PARTITIONS.c.PART_ID).where(PARTITIONS.c.PART_NAME == partition)
    here = update(table).where(table.c.PART_ID.in_(ids)).values(values)
    store.write(lambda unit: unit.connection.execute(here))


LONGS = [np.arange(start * 800, start * 800 + 1_000) for start in range(PARTITION_COUNT)]
"""Neighbouring partitions have 200 values in common."""


@pytest.mark.parametrize("names", [None, [], EVERY, ["p=1", "p=2"], ["P=3", "p=3"]])
def test_distinct_values_of_any_partitions_together(filled: Store, names: Sequence[str] | None) -> None:
    write_all(filled, "l", LONGS)
    parts = LONGS if not names else [LONGS[int(name[2:])] for name in names]
    truth = len(np.unique(np.concatenate(parts)))
    found = questions(filled).distinct_count(NAME, "l", names, "hive")
    assert found.low is not None
    assert found.high is not None
    assert found.low <= truth <= found.high
    assert found.standard_error == pytest.approx(0.01625)
    assert found.exact is False
    assert found.high - found.count == pytest.approx(3 * 0.01625 * found.count, abs=1)


def test_each_question_is_few_statements_however_many_partitions(filled: Store, statements: StatementCounter) -> None:
    write_all(filled, "l", LONGS)
    ask = questions(filled)
    for names in (EVERY[:2], EVERY, None):
        with statements() as sent:
            ask.distinct_count(NAME, "l", names, "hive")
        assert len(sent) == 3
    with statements() as sent:
        ask.quantiles(NAME, "l", None, [0.5], "hive")
    assert len(sent) == 3


def test_quantiles_of_any_partitions_together(filled: Store) -> None:
    write_all(filled, "l", LONGS)
    for names, parts in ((None, LONGS), (["p=0", "p=5"], [LONGS[0], LONGS[5]])):
        values = np.sort(np.concatenate(parts))
        fractions = [0, 0.1, 0.5, 0.9, 1]
        found = questions(filled).quantiles(NAME, "l", names, fractions, "hive")
        assert (found.count, found.exact) == (len(values), False)
        assert found.rank_error == pytest.approx(0.0133, abs=0.001)
        truth = np.quantile(values, fractions, method="inverted_cdf").tolist()
        assert (found.values[0], found.values[-1]) == (truth[0], truth[-1])
        for low, quantile, high, true in zip(found.low, found.values, found.high, truth, strict=True):
            assert low <= quantile <= high
            assert low - 40 <= true <= high + 40


def test_quantiles_of_few_values_are_exact(filled: Store) -> None:
    write(filled, 1, collected("d", [1.5, 2.5, None, 9.0]))
    found = questions(filled).quantiles(NAME, "d", ["p=1"], [0.5, 0], "hive")
    assert (found.values, found.low, found.high) == ((2.5, 1.5),) * 3
    assert (found.rank_error, found.count, found.exact) == (0, 3, True)


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        ("l", [7, 7, None, -1], [(7, 2), (-1, 1)]),
        ("s", ["b", "ä", "b"], [("b", 2), ("ä", 1)]),
        ("b", [True, None, True, False], [(True, 2), (False, 1)]),
        ("bin", [b"\x00", b"\x00"], [(b"\x00", 2)]),
    ],
)
def test_frequent_values_are_typed(filled: Store, column: str, values: list[Any], expected: list[Any]) -> None:
    write(filled, 1, collected(column, values))
    kind, found = questions(filled).top_k(NAME, column, ["p=1"], 10, "hive")
    assert kind is kind_of(TYPES[column])
    assert found.values == tuple(FrequentValue(value, count, count) for value, count in expected)
    assert (found.count, found.unlisted, found.exact) == (len(values) - values.count(None), 0, True)


def test_frequent_values_of_partitions_together(filled: Store) -> None:
    write_all(filled, "s", [["a"] * (number + 1) + ["b"] * 3 + [f"only {number}"] for number in range(PARTITION_COUNT)])
    _, found = questions(filled).top_k(NAME, "s", None, 2, "hive")
    assert [(each.value, each.low) for each in found.values] == [("a", 21), ("b", 18)]
    assert (found.count, found.unlisted) == (45, 1)


def test_a_partition_without_values_and_a_table_without_partitions_count_as_nothing(
    filled: Store, store: Store, tmp_path: Path
) -> None:
    write_all(filled, "l", [pa.array([], pa.int64())] * PARTITION_COUNT)
    ask = questions(filled)
    assert ask.distinct_count(NAME, "l", None, "hive").count == 0
    assert ask.quantiles(NAME, "l", None, [0.5], "hive").values == ()
    assert ask.top_k(NAME, "l", None, 3, "hive")[1].values == ()
    empty = TableName("hive", "default", "empty")
    storage = Storage(columns=(Column("l", "bigint"),))
    table = Table(name=empty, storage=storage, partition_keys=(Column("p", "int"),), table_type="EXTERNAL_TABLE")
    Tables(store, Warehouse(str(tmp_path))).create(table)
    assert ask.distinct_count(empty, "l", None, "hive") == DistinctCount(0, 0.0, 0, 0, exact=True)


def test_an_unpartitioned_table(filled: Store) -> None:
    StatisticsWriter(filled).update_table(FLAT, StatisticsSet((collected("l", np.arange(5_000)),)))
    ask = questions(filled)
    assert ask.distinct_count(FLAT, "l", None, "hive").count == pytest.approx(5_000, rel=0.05)
    assert ask.quantiles(FLAT, "l", [], [1], "hive").values == (4_999,)
    assert ask.top_k(FLAT, "l", None, 1, "hive")[1].count == 5_000
    with pytest.raises(InvalidInput, match=r"flat has no partitions, found the name p=1"):
        ask.top_k(FLAT, "l", ["p=1"], 1, "hive")
    sentence = (
        r"^table hive.default.flat has no bit vector of column m: ANALYZE TABLE default.flat COMPUTE STATISTICS F"
    )
    with pytest.raises(MissingStatistics, match=sentence):
        ask.distinct_count(FLAT, "m", None, "hive")


def test_what_is_missing_is_named_with_the_statement_that_would_make_it(filled: Store) -> None:
    write(filled, 1, collected("l", [1]))
    write(filled, 2, ColumnStatistics("l", "bigint", LongStatistics(nulls=0, ndv=4)))
    ask = questions(filled)
    one = "partition p=2 of table hive.default.t has no {} of column l: ANALYZE TABLE default.t PARTITION (p='2') "
    calls: dict[str, Callable[[], object]] = {
        "bit vector": lambda: ask.distinct_count(NAME, "l", ["p=1", "p=2"], "hive"),
        "histogram": lambda: ask.quantiles(NAME, "l", ["p=1", "p=2"], [0.5], "hive"),
        "top-k sketch": lambda: ask.top_k(NAME, "l", ["p=2"], 1, "hive"),
    }
    for what, call in calls.items():
        with pytest.raises(MissingStatistics) as error:
            call()
        assert str(error.value) == one.format(what) + "COMPUTE STATISTICS FOR COLUMNS l"
    with pytest.raises(MissingStatistics) as error:
        ask.distinct_count(NAME, "l", None, "hive")
    assert str(error.value) == (
        "5 partitions, such as p=0, of table hive.default.t have no bit vector of column l: "
        "ANALYZE TABLE default.t PARTITION (p) COMPUTE STATISTICS FOR COLUMNS l"
    )


def test_the_tables_own_sketches_answer_when_partitions_have_none(filled: Store) -> None:
    write(filled, 1, collected("l", [1]))
    write(filled, None, collected("l", np.arange(100)))
    ask = questions(filled)
    assert ask.distinct_count(NAME, "l", None, "hive").count == 100
    assert ask.quantiles(NAME, "l", None, [1], "hive").values == (99,)
    assert ask.top_k(NAME, "l", None, 1, "hive")[1].count == 100
    with pytest.raises(MissingStatistics, match="5 partitions"):
        ask.distinct_count(NAME, "l", EVERY, "hive")


def test_a_corrupt_sketch_counts_as_missing_and_is_logged(filled: Store) -> None:
    write_all(filled, "l", LONGS)
    overwrite(filled, PART_COL_STATS, "p=3", BIT_VECTOR=b"HLLx", HISTOGRAM=b"x")
    overwrite(filled, HMSTATS_TOP_K, "p=3", ITEMS=b"x")
    ask = questions(filled)
    for call in (
        lambda: ask.distinct_count(NAME, "l", None, "hive"),
        lambda: ask.quantiles(NAME, "l", None, [0.5], "hive"),
        lambda: ask.top_k(NAME, "l", None, 1, "hive"),
    ):
        with capture_logs() as events, pytest.raises(MissingStatistics, match=r"^partition p=3 of"):
            call()
        assert [each["partition"] for each in events if each["event"] == "stored_sketch_ignored"] == ["p=3"]
    assert ask.distinct_count(NAME, "l", ["p=2", "p=4"], "hive").count == pytest.approx(2_000, rel=0.05)


def test_sketches_of_two_kinds_do_not_go_together(filled: Store) -> None:
    write_all(filled, "l", LONGS)
    overwrite(filled, PART_COL_STATS, "p=5", BIT_VECTOR=b"FM\x01\x00\xff\x19\x00\x00")
    with pytest.raises(MissingStatistics, match="no bit vector of column l"):
        questions(filled).distinct_count(NAME, "l", None, "hive")


def test_an_exact_count_is_answered_as_its_writer_gave_it(filled: Store) -> None:
    counted = collected("l", np.arange(5_000), provenance=Provenance(exact=True))
    write(filled, 1, ColumnStatistics("l", "bigint", LongStatistics(ndv=4_321), None, counted.provenance))
    write(filled, 2, ColumnStatistics("l", "bigint", LongStatistics(ndv=77)))
    made = Provenance(exact=False, ndv_standard_error=0.1)
    write(filled, 3, ColumnStatistics("l", "bigint", LongStatistics(ndv=100), None, made))
    ask = questions(filled)
    assert ask.distinct_count(NAME, "l", ["p=1"], "hive") == DistinctCount(4_321, 0.0, 4_321, 4_321, exact=True)
    assert ask.distinct_count(NAME, "l", ["p=2"], "hive") == DistinctCount(77)
    assert ask.distinct_count(NAME, "l", ["p=3"], "hive") == DistinctCount(100, 0.1, 70, 130, exact=False)


def test_booleans_are_counted_without_sketches(filled: Store) -> None:
    for number, (trues, falses) in enumerate([(3, 0), (4, 0), (0, 5)]):
        data = BooleanStatistics(trues=trues, falses=falses, nulls=1)
        write(filled, number, ColumnStatistics("b", "boolean", data))
    ask = questions(filled)
    assert ask.distinct_count(NAME, "b", ["p=0", "p=1"], "hive") == DistinctCount(1, 0.0, 1, 1, exact=True)
    assert ask.distinct_count(NAME, "b", ["p=0", "p=2"], "hive").count == 2
    kind, found = ask.top_k(NAME, "b", ["p=0", "p=1", "p=2"], 5, "hive")
    assert kind is Kind.BOOLEAN
    assert [(each.value, each.high) for each in found.values] == [(True, 7), (False, 5)]
    with pytest.raises(MissingStatistics, match=r"3 partitions, such as p=3, of table .* have no counts of column b"):
        ask.top_k(NAME, "b", None, 5, "hive")


def test_partition_keys_are_counted_from_the_catalog(filled: Store) -> None:
    ask = questions(filled)
    assert ask.distinct_count(NAME, "p", None, "hive") == DistinctCount(6, 0.0, 6, 6, exact=True)
    assert ask.distinct_count(NAME, "p", ["p=2", "p=1"], "hive").count == 2
    with pytest.raises(InvalidInput, match=r"column p of table hive\.default\.t is a partition key"):
        ask.top_k(NAME, "p", None, 1, "hive")


def test_null_is_no_distinct_value_of_a_partition_key(store: Store, tmp_path: Path) -> None:
    make_table(store, tmp_path, [1, 2, "__HIVE_DEFAULT_PARTITION__"])
    ask = questions(store)
    assert ask.distinct_count(NAME, "p", None, "hive") == DistinctCount(2, 0.0, 2, 2, exact=True)
    assert ask.distinct_count(NAME, "p", ["p=__HIVE_DEFAULT_PARTITION__"], "hive").count == 0


def test_other_engines_answer_unless_that_is_switched_off(filled: Store) -> None:
    write(filled, 1, collected("l", np.arange(30)), engine="impala")
    assert questions(filled).distinct_count(NAME, "l", ["p=1"], "hive").count == 30
    assert questions(filled).top_k(NAME, "l", ["p=1"], 1, "hive")[1].count == 30
    write(filled, 1, collected("l", np.arange(20)))
    assert questions(filled).distinct_count(NAME, "l", ["p=1"], "hive").count == 20
    assert questions(filled).top_k(NAME, "l", ["p=1"], 1, "hive")[1].count == 20
    strict = questions(filled, any_engine=False)
    assert strict.distinct_count(NAME, "l", ["p=1"], "impala").count == 30
    for call in (
        lambda: strict.distinct_count(NAME, "l", ["p=1"], "spark"),
        lambda: strict.quantiles(NAME, "l", ["p=1"], [0.5], "spark"),
        lambda: strict.top_k(NAME, "l", ["p=1"], 1, "spark"),
    ):
        with pytest.raises(MissingStatistics):
            call()


def test_wrong_questions_are_refused(filled: Store) -> None:
    ask = questions(filled)
    nowhere = TableName("hive", "default", "nowhere")
    for wrong, error, sentence in (
        (lambda: ask.distinct_count(nowhere, "l", None, "hive"), NoSuchObject, "nowhere"),
        (lambda: ask.provenance(nowhere, None, None), NoSuchObject, "nowhere"),
        (lambda: ask.statistics(nowhere, None, None, "hive"), NoSuchObject, "nowhere"),
        (lambda: ask.distinct_count(NAME, "zz", None, "hive"), NoSuchObject, "no column zz, only b, l, m"),
        (lambda: ask.distinct_count(NAME, "l", ["p=9"], "hive"), NoSuchObject, "has no partition p=9"),
        (lambda: ask.distinct_count(NAME, "bin", None, "hive"), InvalidInput, "column bin of table .* is binary"),
        (lambda: ask.quantiles(NAME, "s", None, [0.5], "hive"), InvalidInput, "numbers, dates or times, found string"),
        (lambda: ask.quantiles(NAME, "l", None, [0.5, 1.5], "hive"), InvalidInput, "from 0 to 1, found 1.5"),
        (lambda: ask.quantiles(NAME, "l", None, [float("nan")], "hive"), InvalidInput, "found nan"),
        (lambda: ask.top_k(NAME, "l", None, 0, "hive"), InvalidInput, "k must be 1 or more, found 0"),
    ):
        with pytest.raises(error, match=sentence):
            wrong()


def test_statistics_come_with_all_that_is_kept_beside_them(filled: Store, statements: StatementCounter) -> None:
    columns = {number: collected("l", LONGS[number]) for number in (1, 2)}
    write_all(filled, "s", [["x"]] * PARTITION_COUNT)
    for number, column in columns.items():
        write(filled, number, column)
    ask = questions(filled)
    with statements() as sent:
        found = ask.statistics(NAME, ["l"], [], "hive")
    assert len(sent) <= 7
    assert [each.partition for each in found] == ["p=1", "p=2"]
    for each, (number, written) in zip(found, columns.items(), strict=True):
        (column,) = each.columns
        assert (column.data, column.top_k) == (columns[number].data, written.top_k)
        assert column.provenance is not None
        assert column.provenance.exact is False
    assert ask.statistics(NAME, ["l"], None, "hive") == []
    assert len(ask.statistics(NAME, None, ["p=3", "p=4"], "hive")) == 2


def test_provenance_of_a_table_and_of_partitions(filled: Store) -> None:
    write_all(filled, "l", LONGS)
    write(filled, None, collected("l", [1]), collected("b", [True]))
    ask = questions(filled)
    assert [(each.partition, each.column) for each in ask.provenance(NAME, None, None)] == [(None, "b"), (None, "l")]
    assert [each.partition for each in ask.provenance(NAME, ["l"], [])] == EVERY
    assert [each.partition for each in ask.provenance(NAME, ["l"], ["p=4"])] == ["p=4"]
    assert ask.provenance(NAME, ["s"], []) == []

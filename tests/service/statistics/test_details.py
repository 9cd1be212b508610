"""What every write keeps beside its numbers: provenance and frequent values."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from sqlalchemy import delete
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, bit_vector, make_table, of_longs, of_partition

from hmstats.errors import InvalidInput
from hmstats.model.statistics.column_statistics import (
    BooleanStatistics,
    ColumnStatistics,
    LongStatistics,
    StatisticsSet,
)
from hmstats.model.statistics.provenance import Provenance
from hmstats.service.statistics.questions.questions import StatisticsQuestions
from hmstats.service.statistics.reading.read import StatisticsReader
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.statistics.writing.write_options import WriteOptions
from hmstats.sketch.frequent.top_k import TopK
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE

NOW = 1_700_000_000


@pytest.fixture
def filled(database_url: str, tmp_path: Path) -> Iterator[Store]:
    store = Store.open(database_url, clock=lambda: NOW)
    make_table(store, tmp_path, range(20))
    yield store
    store.close()


def column(counts: Mapping[str, int] | None = None, made: Provenance | None = None) -> ColumnStatistics:
    """Statistics of column l with these frequent values."""
    sketch = TopK()
    sketch.add(list(counts or {}), list((counts or {}).values()), sum((counts or {}).values()), 0)
    return ColumnStatistics("l", "bigint", of_longs(0, 5), sketch.to_bytes() if counts is not None else None, made)


def write(
    store: Store, given: ColumnStatistics, number: int | None = 1, *, merge: bool = False, author: str = "ada"
) -> None:
    writer = StatisticsWriter(store)
    if number is None:
        writer.update_table(NAME, StatisticsSet((given,)), WriteOptions(merge=merge, author=author))
    else:
        writer.update_partitions(
            NAME, [StatisticsSet((given,), f"p={number}")], WriteOptions(merge=merge, author=author)
        )


def stored(store: Store, number: int | None = 1) -> ColumnStatistics:
    ask = StatisticsQuestions(store, StatisticsReader(store))
    (found,) = ask.statistics(NAME, ["l"], None if number is None else [f"p={number}"], "hive")
    return found.columns[0]


def made(store: Store, number: int | None = 1) -> Provenance:
    found = stored(store, number).provenance
    assert found is not None
    return found


@pytest.mark.parametrize("number", [1, None])
def test_what_a_writer_does_not_say_is_told_by_the_statistics(filled: Store, number: int | None) -> None:
    write(filled, column(), number)
    error = 1.04 / math.sqrt(2**25)
    expected = Provenance(exact=False, ndv_standard_error=error, writer="ada", written_at_seconds=NOW)
    assert made(filled, number) == expected
    write(filled, ColumnStatistics("l", "bigint", LongStatistics(ndv=3)), number, author="bea")
    assert made(filled, number) == Provenance(writer="bea", written_at_seconds=NOW)


def test_a_dense_sketch_tells_its_error(filled: Store) -> None:
    data = LongStatistics(ndv=5_000, bit_vector=bit_vector(0, 5_000, p=10))
    write(filled, ColumnStatistics("l", "bigint", data))
    assert made(filled).ndv_standard_error == pytest.approx(0.0325)


def test_what_a_writer_says_is_kept(filled: Store) -> None:
    said = Provenance(exact=True, ndv_standard_error=0.5, rows_seen=7, sample_fraction=0.1, tool="duckdb 1")
    write(filled, column(made=said))
    assert made(filled) == Provenance(
        exact=True,
        ndv_standard_error=0.5,
        rows_seen=7,
        sample_fraction=0.1,
        tool="duckdb 1",
        writer="ada",
        written_at_seconds=NOW,
    )


def test_frequent_values_are_replaced_and_go_with_statistics_that_have_none(filled: Store) -> None:
    write(filled, column({"1": 3}))
    write(filled, column({"2": 4}))
    assert stored(filled).top_k == column({"2": 4}).top_k
    write(filled, column())
    assert stored(filled).top_k is None


@pytest.mark.parametrize("number", [1, None])
def test_merging_unites_them(filled: Store, number: int | None) -> None:
    write(filled, column({"1": 3, "2": 1}, Provenance(rows_seen=4, sample_fraction=1.0)), number, merge=True)
    assert stored(filled, number).top_k == column({"1": 3, "2": 1}).top_k
    write(
        filled,
        column({"1": 2}, Provenance(rows_seen=2, sample_fraction=1.0, tool="t")),
        number,
        merge=True,
        author="bea",
    )
    assert stored(filled, number).top_k == column({"1": 5, "2": 1}).top_k
    found = made(filled, number)
    assert (found.rows_seen, found.sample_fraction, found.tool, found.writer) == (6, 1.0, "t", "bea")
    assert found.ndv_standard_error is not None


def test_merging_with_values_that_nobody_counted_leaves_none(filled: Store) -> None:
    write(filled, column())
    write(filled, column({"1": 3}), merge=True)
    assert stored(filled).top_k is None
    assert made(filled).rows_seen is None
    write(filled, column({"1": 3}))
    write(filled, column(), merge=True)
    assert stored(filled).top_k is None


def test_other_columns_and_engines_keep_theirs(filled: Store) -> None:
    write(filled, column({"1": 3}))
    flags = ColumnStatistics("b", "boolean", BooleanStatistics(trues=1, falses=1))
    StatisticsWriter(filled).update_partitions(NAME, [StatisticsSet((flags,), "p=1")])
    StatisticsWriter(filled).update_partitions(NAME, [StatisticsSet((column(),), "p=1", "impala")])
    assert stored(filled).top_k is not None


def test_the_statements_do_not_grow(filled: Store, statements: StatementCounter) -> None:
    writer = StatisticsWriter(filled)
    writer.update_partitions(NAME, [of_partition(0, l=of_longs(0, 10))])  # takes ids
    for merge in (False, True):
        counts = []
        for numbers in ([1], range(2, 20)):
            sets = [StatisticsSet((column({"1": 1}),), f"p={each}") for each in numbers]
            with statements() as sent:
                writer.update_partitions(NAME, sets, WriteOptions(merge=merge))
            counts.append(len(sent))
        assert counts[0] == counts[1]


@pytest.mark.parametrize("item", ["x", "1.5", ""])
def test_an_item_that_is_no_value_of_the_column_is_refused(filled: Store, item: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"top-k sketch of column l of partition p=1 .* a frequent value of kind LONG"
    ):
        write(filled, column({item: 1}))


def test_deleting_statistics_takes_the_details_along(filled: Store) -> None:
    for number in (None, 1):
        write(filled, column({"1": 3}), number)
    writer, ask = StatisticsWriter(filled), StatisticsQuestions(filled, StatisticsReader(filled))
    writer.delete_partitions(NAME, ["p=1"], ["l"], None)
    assert ask.provenance(NAME, None, []) == []
    writer.delete_table(NAME, None, "hive")
    assert ask.provenance(NAME, None, None) == []


@pytest.mark.parametrize("number", [1, None])
def test_frequent_values_need_no_provenance(filled: Store, number: int | None) -> None:
    """A server of the version before writes none that we read."""
    write(filled, column({"1": 3}), number)
    filled.write(lambda unit: unit.connection.execute(delete(HMSTATS_COLUMN_PROVENANCE)))
    found = stored(filled, number)
    assert (found.top_k, found.provenance) == (column({"1": 3}).top_k, None)
    ask = StatisticsQuestions(filled, StatisticsReader(filled))
    assert ask.provenance(NAME, None, None if number is None else []) == []
    write(filled, column({"2": 1}), number, merge=True)
    assert stored(filled, number).top_k == column({"1": 3, "2": 1}).top_k
    assert made(filled, number).writer == "ada"

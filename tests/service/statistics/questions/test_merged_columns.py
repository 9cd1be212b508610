"""What is asked of many columns at once is what is asked of each alone, in as many statements as for one."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.databases.statements import StatementCounter
from tests.service.statistics.filled import NAME, TYPES
from tests.service.statistics.questions.test_questions import (
    EVERY,
    FLAT,
    PARTITION_COUNT,
    collected,
    filled,
    overwrite,
    questions,
    write,
    write_all,
)

from hmstats.errors import InvalidInput, MissingStatistics, NoSuchObject
from hmstats.model.catalog.objects import Column, Storage, Table, TableName
from hmstats.model.statistics.answers import MergedColumn
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.service.catalog.tables.tables import Tables
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.store.schema import PART_COL_STATS

__all__ = ["filled"]

FRACTIONS = [0.0, 0.5, 1.0]
K = 3
VALUES: dict[str, Callable[[int], Any]] = {
    "b": lambda part: pa.array([True, None, part % 2 == 0]),
    "l": lambda part: np.arange(part * 10, part * 10 + 20),
    "m": lambda part: pa.array([part, part, None], pa.int32()),
    "d": lambda part: pa.array([0.5, float(part)]),
    "s": lambda part: pa.array(["same", str(part)]),
    "bin": lambda part: pa.array([b"x" * part], pa.binary()),
}


def _alone(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (MissingStatistics, InvalidInput):
        return None


def _asked_alone(store: Store, name: TableName, columns: Sequence[str], engine: str) -> list[MergedColumn]:
    """The answers of the questions about one column."""
    ask = questions(store)
    return [
        MergedColumn(
            column,
            _alone(partial(ask.quantiles, name, column, None, FRACTIONS, engine)),
            _alone(partial(ask.top_k, name, column, None, K, engine)),
            _alone(partial(ask.distinct_count, name, column, None, engine)),
        )
        for column in columns
    ]


def _answers(store: Store, name: TableName, columns: Sequence[str], engine: str = "hive") -> list[MergedColumn]:
    """The answers of the one question, without when and whether they are behind."""
    found, _ = questions(store).merged_columns(name, columns, FRACTIONS, K, engine)
    return [MergedColumn(each.column, each.quantiles, each.frequent, each.distinct) for each in found]


@pytest.fixture
def analysed(filled: Store) -> Store:
    """Every partition has statistics of six columns, and the other three have none."""
    sets = [
        StatisticsSet(tuple(collected(column, make(part)) for column, make in VALUES.items()), f"p={part}")
        for part in range(PARTITION_COUNT)
    ]
    StatisticsWriter(filled).update_partitions(NAME, sets)
    return filled


EVERY_COLUMN = [*TYPES, "p"]


def test_all_together_is_each_alone(analysed: Store) -> None:
    found = _answers(analysed, NAME, EVERY_COLUMN)
    assert found == _asked_alone(analysed, NAME, EVERY_COLUMN, "hive")
    answered = {each.column for each in found if each.distinct is not None}
    assert answered == {*VALUES, "p"} - {"bin"}


@pytest.mark.parametrize("engine", ["hive", "other"])
def test_gaps_of_one_column_are_none_of_another(analysed: Store, engine: str) -> None:
    """A sketch that cannot be read, one of another engine, a table's own, a partition that lacks one column."""
    overwrite(analysed, PART_COL_STATS, "p=2", BIT_VECTOR=b"HL?")
    write(analysed, 1, collected("l", np.arange(7)), collected("b", pa.array([False])), engine="other")
    write(
        analysed, None, collected("d", pa.array([1.0, 2.0, 2.0])), collected("dec", pa.array([], pa.decimal128(38, 10)))
    )
    ids = [column for column in TYPES if column != "s"]
    StatisticsWriter(analysed).delete_partitions(NAME, ["p=4"], ["d", "m"], "hive")
    assert _answers(analysed, NAME, [*ids, "s"], engine) == _asked_alone(analysed, NAME, [*ids, "s"], engine)


def test_an_unpartitioned_table_and_one_without_partitions(filled: Store, tmp_path: Path) -> None:
    writer = StatisticsWriter(filled)
    writer.update_table(FLAT, StatisticsSet((collected("l", np.arange(9)), collected("b", pa.array([True, None])))))
    empty = TableName("hive", "default", "empty")
    storage = Storage(columns=(Column("l", "bigint"), Column("b", "boolean")))
    table = Table(name=empty, storage=storage, partition_keys=(Column("p", "int"),), table_type="EXTERNAL_TABLE")
    Tables(filled, Warehouse(str(tmp_path))).create(table)
    for name, columns in ((FLAT, list(TYPES)), (empty, ["l", "b", "p"])):
        found = _answers(filled, name, columns)
        assert found == _asked_alone(filled, name, columns, "hive")
        assert any(each.distinct is not None for each in found)


def test_many_columns_take_the_statements_of_one(analysed: Store, statements: StatementCounter) -> None:
    ask, sent = questions(analysed), list[int]()
    for columns in (["l", "b"], ["l", "m", "d", "s", "b"]):
        with statements() as each:
            ask.merged_columns(NAME, columns, FRACTIONS, K, "hive")
        sent.append(len(each))
    assert sent[0] == sent[1] <= 15


def test_what_makes_no_sense_is_refused(filled: Store) -> None:
    write_all(filled, "l", [np.arange(3)] * len(EVERY))
    ask = questions(filled)
    for fractions, k in (([2.0], 1), ([0.5], 0)):
        with pytest.raises(InvalidInput, match="fractions must be from 0 to 1 and k 1 or more"):
            ask.merged_columns(NAME, ["l"], fractions, k, "hive")
    with pytest.raises(NoSuchObject, match="has no column gone"):
        ask.merged_columns(NAME, ["l", "gone"], FRACTIONS, K, "hive")

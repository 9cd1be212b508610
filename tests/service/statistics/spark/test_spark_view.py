"""Which statistics Spark is shown of a column: what it stored, or what was pushed."""

from collections.abc import Mapping

import pytest

from hmstats.model.catalog.objects import Column, Storage, Table, TableName
from hmstats.model.parameters.statistics_keys import STATED
from hmstats.model.statistics.column_statistics import ColumnStatistics, DoubleStatistics, LongStatistics
from hmstats.outlets.spark.spark_properties import PREFIX, read
from hmstats.service.statistics.spark.spark_marks import SHOWN, digest, stated, statement, without_marks
from hmstats.service.statistics.spark.spark_view import Row, parameters_for_spark

SPARKS = {f"{PREFIX}totalSize": "50", f"{PREFIX}numRows": "5", f"{PREFIX}colStats.a.version": "2"}
SPARKS[f"{PREFIX}colStats.a.distinctCount"] = "3"
SIZES = {"totalSize": "100", "numRows": "10"}
PUSHED = ColumnStatistics("a", "bigint", LongStatistics(low=1, high=9, nulls=0, ndv=7))


def table(parameters: Mapping[str, str]) -> Table:
    """A table of one bigint column."""
    columns = (Column("a", "bigint"),)
    return Table(
        name=TableName("hive", "d", "t"),
        owner=None,
        storage=Storage(columns=columns),
        parameters=parameters,
        table_type="MANAGED_TABLE",
    )


def distinct(parameters: Mapping[str, str], row: Row | None) -> int | None:
    """The distinct count that Spark is shown of the column."""
    found = read(parameters_for_spark(table(parameters), {} if row is None else {"a": row}))
    return found.columns["a"].distinct if "a" in found.columns else None


@pytest.mark.parametrize(
    ("written", "of_spark", "expected"),
    [(99, False, 3), (100, True, 3), (100, False, 7), (101, False, 7), (101, True, 7)],
)
def test_the_newer_is_shown(written: int, of_spark: bool, expected: int) -> None:
    parameters = {**SIZES, **SPARKS, **stated(100, SPARKS)}
    assert distinct(parameters, Row(PUSHED, written, of_spark)) == expected


@pytest.mark.parametrize(("written", "expected"), [(199, 3), (201, 7)])
@pytest.mark.parametrize("mark", [{}, stated(300, {}), {STATED: "nothing"}])
def test_parameters_that_came_past_us_are_as_old_as_the_tables_last_change(
    mark: dict[str, str], written: int, expected: int
) -> None:
    parameters = {**SIZES, **SPARKS, **mark, "transient_lastDdlTime": "200"}
    assert distinct(parameters, Row(PUSHED, written)) == expected
    assert not statement(parameters).is_ours


@pytest.mark.parametrize(("written", "expected"), [(100, None), (101, 7)])
def test_what_spark_has_dropped_is_shown_no_more(written: int, expected: int | None) -> None:
    assert distinct({**SIZES, **stated(100, {})}, Row(PUSHED, written)) == expected


def test_without_a_word_of_spark_everything_is_shown() -> None:
    assert distinct(SIZES, Row(PUSHED, None)) == 7
    assert distinct(SIZES, None) is None
    assert statement(SIZES).since_seconds is None


def test_rows_and_bytes_are_the_metastores_own_unless_spark_said_others_past_us() -> None:
    ours = read(parameters_for_spark(table({**SIZES, **SPARKS, **stated(100, SPARKS)}), {}))
    past = read(parameters_for_spark(table({**SIZES, **SPARKS, "transient_lastDdlTime": "200"}), {}))
    assert (ours.size_bytes, ours.rows, past.size_bytes, past.rows) == (100, 10, 50, 5)
    assert read(parameters_for_spark(table({**SPARKS, **stated(100, SPARKS)}), {})).rows == 5
    raw = read(
        parameters_for_spark(table({"rawDataSize": "30", "totalSize": "0", "numRows": "0"}), {"a": Row(PUSHED, 1)})
    )
    assert (raw.size_bytes, raw.rows) == (30, None)


def test_without_a_size_what_spark_stored_is_left_as_it_is() -> None:
    assert parameters_for_spark(table({"numRows": "10"}), {"a": Row(PUSHED, 1)}) == {}
    odd = {f"{PREFIX}numRows": "5"}
    assert parameters_for_spark(table(odd), {"a": Row(PUSHED, 1)}) == odd


def test_statistics_of_another_kind_than_the_columns_are_not_shown() -> None:
    """Spark could not read a bound that has a point."""
    widened = ColumnStatistics("a", "double", DoubleStatistics(low=1.0, high=2.0, ndv=7))
    assert distinct(SIZES, Row(widened, 1)) is None


def test_marks_are_ours() -> None:
    marked = {**SIZES, **stated(1, {}), SHOWN: digest(SPARKS)}
    assert without_marks(marked) == SIZES
    assert digest(SPARKS) == digest(dict(reversed(SPARKS.items()))) != digest({**SPARKS, f"{PREFIX}numRows": "6"})

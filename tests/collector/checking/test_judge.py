"""Stored numbers beside rows that were read: what is right passes, and each number that is wrong is found."""

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from tests.collector.data import ROWS, TYPES, rows

from hmstats.collector.checking.groups import GroupSums, counts
from hmstats.collector.checking.judge import UNSTATED_ERROR, judge_columns, judge_files
from hmstats.collector.checking.report import Tally
from hmstats.collector.checking.seen import Limits, Seen
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.sketch.accumulator import TableAccumulator

GROUP_ROWS = 100
GIVEN = rows()
KINDS = {name: kind for name, type_ in TYPES.items() if (kind := kind_of(type_))}


def state(table: pa.Table, precision: int = 14) -> TableAccumulator:
    made = TableAccumulator.empty(KINDS, precision=precision)
    made.update(table)
    return made


@cache
def seen(every: int = 1, *, by_rows: bool = False) -> Seen:
    """Every so many row groups of the table, or rows where they are picked one by one."""
    found, groups = state(GIVEN.slice(0, 0)), GroupSums.empty(len(TYPES))
    for place, start in enumerate(range(0, ROWS, GROUP_ROWS)):
        part = GIVEN.slice(start, GROUP_ROWS)
        if place % every:
            found.leave_out(part.num_rows)
            continue
        before = counts(found)
        found.update(part)
        groups = groups.merge(GroupSums.of(counts(found) - before))
    return Seen(found, None if by_rows else groups)


@pytest.fixture(scope="module")
def right() -> dict[str, ColumnStatistics]:
    """What a collector of precision 12 stores."""
    return {each.column: each for each in state(GIVEN, 12).statistics(TYPES)}


def check(columns: dict[str, ColumnStatistics], found: Seen, count: int | None = ROWS, tolerance: float = 0.0) -> Tally:
    return judge_columns(
        TableStatistics(statistics=StatisticsSet(tuple(columns.values())), rows=count), found, tolerance
    )


def tampered(right: dict[str, ColumnStatistics], **fields: dict[str, Any]) -> dict[str, ColumnStatistics]:
    """Column to its other numbers; the rest stays."""
    changed = {name: replace(right[name], data=replace(right[name].data, **each)) for name, each in fields.items()}
    return {**right, **changed}


def wrong(tally: Tally) -> list[tuple[str | None, str]]:
    return [(each.column, each.statistic) for each in tally.wrong]


@pytest.mark.parametrize(("every", "by_rows"), [(1, False), (2, False), (5, False), (2, True)])
def test_what_is_right_passes(right: dict[str, ColumnStatistics], every: int, by_rows: bool) -> None:
    found = seen(every, by_rows=by_rows)
    tally = check(right, found)
    assert tally.wrong == ()
    assert tally.checked >= 70
    assert (tally.undecided == 0) is (found.unseen("text") == 0)


TAMPERED: list[tuple[str, dict[str, Any]]] = [
    ("flag", {"trues": 3}),
    ("flag", {"falses": 4000}),
    ("flag", {"nulls": 0}),
    ("tiny", {"nulls": 1}),
    ("number", {"low": 1}),
    ("number", {"high": 9_999}),
    ("number", {"nulls": 799}),
    ("number", {"ndv": 40}),
    ("big", {"low": -(2**62) + 1}),
    ("double", {"high": 1.0}),
    ("double", {"low": -1e308}),
    ("single", {"low": -5.0}),
    ("price", {"high": Decimal("19.97")}),
    ("huge", {"low": Decimal("0.5")}),
    ("day", {"high": 0}),
    ("moment", {"low": 0}),
    ("text", {"max_length": 10}),
    ("text", {"average_length": 7.5}),
    ("text", {"ndv": 3_000}),
    ("raw", {"max_length": 30}),
    ("raw", {"nulls": 1_001}),
    ("nothing", {"nulls": 3_999}),
    ("nothing", {"ndv": 1}),
]


@pytest.mark.parametrize(("column", "fields"), TAMPERED, ids=str)
def test_each_wrong_number_is_found(right: dict[str, ColumnStatistics], column: str, fields: dict[str, Any]) -> None:
    tally = check(tampered(right, **{column: fields}), seen())
    ((statistic, stored),) = fields.items()
    assert wrong(tally) == [(column, statistic)]
    (found,) = tally.wrong
    assert found.stored == stored
    assert found.nearest != stored
    assert (found.q_error is None) == (statistic in ("low", "high"))
    assert found.limits.certain is (statistic != "ndv")
    if found.q_error is not None and statistic != "average_length":
        bigger, smaller = max(stored, found.nearest, 1), max(min(stored, found.nearest), 1)
        assert found.q_error == pytest.approx(bigger / smaller)


def test_another_tables_sketches_are_found(right: dict[str, ColumnStatistics]) -> None:
    other: Any = right["small"]
    stored = tampered(right, number={"histogram": other.data.histogram, "bit_vector": other.data.bit_vector})
    stored["word"] = replace(right["word"], top_k=right["tiny"].top_k)
    found = wrong(check(stored, seen()))
    assert found[:2] == [("number", "bit vector"), ("number", "histogram")]
    assert {column for column, _ in found[2:]} == {"word"}
    assert all(statistic.startswith("count of '") for _, statistic in found[2:])
    assert len(found) > 5
    twice: Any = state(pa.concat_tables([GIVEN, GIVEN])).columns["number"]
    stored = tampered(right, number={"histogram": twice.kll.to_bytes()})
    assert wrong(check(stored, seen())) == []  # the same distribution


def test_what_a_sample_has_seen_proves_numbers_wrong(right: dict[str, ColumnStatistics]) -> None:
    """Of every fifth row group: too few to extrapolate, but what they hold is there."""
    stored = tampered(
        right,
        number={"low": 50, "nulls": 100, "ndv": 200},
        flag={"trues": 4_000 - 100},
        text={"max_length": 20, "average_length": 0.5},
        day={"high": 0},
    )
    found = check(stored, seen(5))
    assert {each for each in wrong(found) if each[1] != "ndv"} == {
        ("number", "low"),
        ("number", "nulls"),
        ("flag", "trues"),
        ("text", "max_length"),
        ("text", "average_length"),
        ("day", "high"),
    }
    certain = {(each.column, each.statistic): each.limits.certain for each in found.wrong}
    assert certain.pop(("number", "ndv")) is False
    assert all(certain.values())
    (nulls,) = [each for each in found.wrong if each.statistic == "nulls"]
    assert nulls.limits == Limits(160, 160 + 3_200)
    assert nulls.q_error == pytest.approx(1.6)


def test_what_a_sample_cannot_tell_is_not_said(right: dict[str, ColumnStatistics]) -> None:
    stored = tampered(
        right,
        number={"low": -50, "high": 9_999, "nulls": 900, "ndv": 3_000},
        text={"max_length": 1_000, "average_length": 90.0},
    )
    found = check(stored, seen(5))
    assert wrong(found) == []
    assert found.undecided >= 6


@pytest.mark.parametrize("by_rows", [False, True])
def test_many_row_groups_tell_the_rest(right: dict[str, ColumnStatistics], by_rows: bool) -> None:
    """Half of 40 row groups: counts are extrapolated, though no row that was read contradicts them."""
    stored = tampered(
        right, number={"nulls": 1_200}, flag={"trues": 1_900, "falses": 1_700}, text={"average_length": 30.0}
    )
    found = check(stored, seen(2, by_rows=by_rows))
    assert wrong(found) == [("flag", "trues"), ("flag", "falses"), ("number", "nulls"), ("text", "average_length")]
    assert not any(each.limits.certain for each in found.wrong)
    (nulls,) = [each for each in found.wrong if each.statistic == "nulls"]
    assert nulls.limits.low <= 800 <= nulls.limits.high < 1_200


def test_the_number_of_rows_and_files() -> None:
    (found,) = check({}, seen(5), count=3_000).wrong
    assert (found.column, found.statistic, found.limits, found.q_error) == (None, "rows", Limits(4_000, 4_000), 4 / 3)
    parameters = {"numFiles": "3", "totalSize": "30", "numRows": "x"}
    assert judge_files("p=1", parameters, [10, 20], 0.0).wrong[0].q_error == 1.5
    assert judge_files("p=1", parameters, [10, 10, 10], 0.0) == Tally(checked=2)
    assert judge_files(None, {"numFiles": "-1"}, [1], 0.0) == Tally()


def test_a_tolerance_lets_pass_what_is_near(right: dict[str, ColumnStatistics]) -> None:
    stored = tampered(right, number={"nulls": 840, "low": 100, "ndv": 2_000}, text={"average_length": 30.0})
    assert wrong(check(stored, seen(), tolerance=0.06)) == [("number", "ndv"), ("text", "average_length")]
    assert wrong(check(stored, seen(), tolerance=0.04))[:2] == [("number", "nulls"), ("number", "ndv")]
    assert ("number", "low") in wrong(check(stored, seen(), tolerance=0.03))
    assert ("number", "low") not in wrong(check(stored, seen(), tolerance=0.04))


@pytest.mark.slow
def test_a_distinct_count_may_be_off_by_its_own_error(right: dict[str, ColumnStatistics]) -> None:
    """6 % more are too many for Hive's bit vectors, not for a writer who states 5 %; who says exact may not be off."""
    true: Any = seen().state.columns["text"].hll
    off = {"ndv": round(true.count() * 1.06)}
    bare = tampered(right, text={**off, "bit_vector": None})
    assert UNSTATED_ERROR == 0.05
    assert wrong(check(bare, seen())) == []
    assert wrong(check(tampered(right, text=off), seen())) == [("text", "ndv")]
    stated = {"text": replace(bare["text"], provenance=Provenance(ndv_standard_error=0.001))}
    exact = {"text": replace(bare["text"], provenance=Provenance(exact=True))}
    assert wrong(check(stated, seen())) == wrong(check(exact, seen())) == [("text", "ndv")]


def test_what_nobody_knows_is_not_compared(right: dict[str, ColumnStatistics]) -> None:
    unknown = ColumnStatistics("number", "int", type(right["number"].data)())
    assert check({"number": unknown}, seen(), count=None) == Tally()
    gone = ColumnStatistics("gone", "int", right["number"].data)
    assert check({"gone": gone}, seen(), count=None) == Tally()

"""An error of an estimate is blamed where it was made, and nowhere above."""

from math import isfinite

import pytest

from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.misestimates import UNKNOWN_FACTOR, misestimates, shape_of
from hmstats.model.feedback.queries import ColumnUse, Operation, Operator, Query, Use

T, S = TableName("hive", "shop", "orders"), TableName("hive", "shop", "customers")
STATUS = ColumnUse(T, "status", Use.EQUALITY)
KEYS = (ColumnUse(T, "customer", Use.JOIN), ColumnUse(S, "id", Use.JOIN))


def scan(
    rows: int | None, estimated: float | None = 20_000, table: TableName = T, *, at_least: bool = False
) -> Operation:
    return Operation(Operator.SCAN, estimated, rows, (), (), table, at_least)


def filtered(below: Operation, rows: int | None, estimated: float | None, use: ColumnUse = STATUS) -> Operation:
    return Operation(Operator.FILTER, estimated, rows, (use,), (below,))


def joined(*below: Operation, rows: int, estimated: float) -> Operation:
    return Operation(Operator.JOIN, estimated, rows, KEYS, below)


def query(root: Operation, seconds: float = 2.0) -> Query:
    return Query("spark", 0, seconds, root)


def test_a_filter_is_blamed_and_the_join_above_is_innocent() -> None:
    """As on a real Trino: 2,700 were expected of a filter, 341 came, and the join passed them on."""
    below = filtered(scan(20_000), 341, 2_700)
    (found,) = misestimates(query(joined(below, scan(1_500, 1_500, S), rows=341, estimated=2_700)))
    assert found.uses == (STATUS,)
    assert found.factor == pytest.approx(2_700 / 341)
    assert found.weight == pytest.approx(2.984 * 2, rel=0.01)


def test_a_join_is_blamed_for_its_own_part_only() -> None:
    below = filtered(scan(20_000), 1_000, 4_000)
    join = joined(below, scan(1_500, 1_500, S), rows=32_000, estimated=4_000)
    own = {found.uses: found.factor for found in misestimates(query(join))}
    assert own[KEYS] == pytest.approx(32)  # 8 times too many, of 4 times too few
    assert own[STATUS,] == pytest.approx(4)


def test_a_scan_is_blamed_for_its_row_count() -> None:
    (found,) = misestimates(query(filtered(scan(20_000, 1_000), 2_000, 100)))
    assert (found.table, found.uses, found.factor) == (T, (), 20)


def test_a_scan_that_passed_over_rows_has_no_fewer_than_it_read() -> None:
    assert misestimates(query(scan(5_000, 20_000, at_least=True))) == []
    (found,) = misestimates(query(scan(100_000, 20_000, at_least=True)))
    assert found.factor == 5


def test_an_unknown_number_of_rows_counts_as_a_large_error() -> None:
    (found,) = misestimates(query(scan(20_000, None)))
    assert (found.estimated, found.factor) == (None, UNKNOWN_FACTOR)


@pytest.mark.parametrize(
    "root",
    [
        filtered(scan(900, 900), 1, 500),  # too few rows to say anything
        filtered(scan(20_000), None, 500),  # cut off, or not counted
        filtered(scan(20_000), 900, 500),  # below the least factor
        Operation(Operator.FILTER, 10, 20_000, (), (scan(20_000),)),  # of something that is computed
    ],
)
def test_what_is_left_out(root: Operation) -> None:
    assert misestimates(query(root)) == []


def test_a_join_over_rows_that_nobody_counted_is_not_judged() -> None:
    uncounted = filtered(scan(20_000), None, 500)
    assert misestimates(query(joined(uncounted, scan(1_500, 1_500, S), rows=80_000, estimated=2_000))) == []


def test_a_shape_does_not_depend_on_numbers() -> None:
    one, other = filtered(scan(20_000), 341, 2_700), filtered(scan(9), 5, 1)
    assert shape_of(query(one)) == shape_of(query(other, 9.0))
    another = filtered(scan(20_000), 341, 2_700, ColumnUse(T, "status", Use.RANGE))
    assert shape_of(query(one)) != shape_of(query(another))


@pytest.mark.parametrize(
    ("rows", "estimated", "below"), [(1, 1e308, (10**18, 1.0)), (10**18, 1.0, (1, 1e308)), (1_000, 1e308, (6, 5.0))]
)
def test_an_estimate_at_the_end_of_numbers_is_an_error_like_others(
    rows: int, estimated: float, below: tuple[int, float]
) -> None:
    """What a page or a command can show, and a metastore takes."""
    found = misestimates(query(joined(scan(*below), scan(*below, S), rows=rows, estimated=estimated)))
    assert found[0].factor >= 1e299
    assert all(isfinite(each.factor) and isfinite(each.weight) for each in found)

"""Verdicts: what an analysis mends, and what it does not."""

import pytest

from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.misestimates import Misestimate
from hmstats.model.feedback.queries import ColumnUse, Use
from hmstats.model.feedback.verdicts import Stored, StoredColumn, StoredTable, Verdict, assign_blame
from hmstats.model.health.health import Reason

T = TableName("hive", "shop", "orders")
OURS = StoredColumn(ndv=3, nulls=0, vouched=True)


def error(*uses: ColumnUse, rows: int = 200, whole: bool = True) -> Misestimate:
    return Misestimate(None if uses else T, uses, 6_670.0, rows, 33.35, 10.0, whole)


def column(name: str = "status", use: Use = Use.EQUALITY) -> ColumnUse:
    return ColumnUse(T, name, use)


def stored(reason: Reason = Reason.FRESH, rows: int | None = 20_000, **columns: StoredColumn) -> Stored:
    return {T: StoredTable(rows, reason, columns)}


def verdicts(of: Misestimate, known: Stored) -> dict[str | None, Verdict]:
    return {each.column: each.verdict for each in assign_blame(of, known)}


def test_of_a_table() -> None:
    assert verdicts(error(), stored(rows=None)) == {None: Verdict.MISSING}
    assert verdicts(error(), stored(Reason.CHANGED)) == {None: Verdict.STALE}
    assert verdicts(error(rows=90_000), stored()) == {None: Verdict.STALE}
    assert verdicts(error(rows=20_100), stored()) == {None: Verdict.BEYOND}


def test_of_a_column() -> None:
    assert verdicts(error(column()), stored()) == {"status": Verdict.MISSING}
    assert verdicts(error(column()), stored(Reason.UNMARKED, status=OURS)) == {"status": Verdict.STALE}
    assert verdicts(error(column()), stored(status=StoredColumn(3, 0))) == {"status": Verdict.WRONG}
    assert verdicts(error(column()), stored(status=OURS)) == {"status": Verdict.BEYOND}
    assert verdicts(error(column(use=Use.FUNCTION)), stored()) == {"status": Verdict.BEYOND}


@pytest.mark.parametrize(
    ("use", "known", "rows"),
    [
        (Use.GROUP, StoredColumn(3, 0, vouched=True), 1_500),  # more groups than values
        (Use.GROUP, StoredColumn(9_000, 0, vouched=True), 1_500),  # fewer, over the whole table
        (Use.NULLS, StoredColumn(3, 9_000, vouched=True), 200),  # neither the nulls nor the others
        (Use.EQUALITY, StoredColumn(18_000, 0, vouched=True), 9_000),  # no room for so many other values
    ],
)
def test_numbers_that_cannot_be_true_are_wrong_whoever_counted_them(use: Use, known: StoredColumn, rows: int) -> None:
    assert verdicts(error(column(use=use), rows=rows), stored(status=known)) == {"status": Verdict.WRONG}


def test_a_part_of_a_table_may_have_fewer_groups() -> None:
    known = stored(status=StoredColumn(9_000, 0, vouched=True))
    assert verdicts(error(column(use=Use.GROUP), rows=1_500, whole=False), known) == {"status": Verdict.BEYOND}


def test_of_several_columns_those_with_the_worst_verdict_share_the_weight() -> None:
    of = error(column("status"), column("price", Use.RANGE), column("day"))
    known = stored(price=OURS)
    assert {each.column: each.weight for each in assign_blame(of, known)} == {"status": 5.0, "day": 5.0}
    known = stored(status=OURS, price=OURS, day=OURS)
    assert set(verdicts(of, known).values()) == {Verdict.BEYOND}


def test_nulls_are_to_blame_only_alone() -> None:
    of = error(column("status"), column("id", Use.NULLS))
    assert set(verdicts(of, stored(status=OURS))) == {"status"}
    assert verdicts(error(column("id", Use.NULLS)), stored()) == {"id": Verdict.MISSING}


def test_tables_of_others_are_nobodys_fault() -> None:
    assert assign_blame(error(), {}) == []
    other = ColumnUse(TableName("hive", "shop", "elsewhere"), "id", Use.JOIN)
    assert assign_blame(error(column(), other), stored()) == []

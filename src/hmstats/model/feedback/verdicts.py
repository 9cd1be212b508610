"""Judges which stored statistics caused an error of an estimate, and whether a new analysis would correct it.

The verdict depends on the statistics that are stored at the time. Numbers that our collector has computed from the rows
are vouched for: then the error is in the engine's model, which does not know about skew, patterns, or columns that
depend on each other, and a new analysis will not help.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.misestimates import Misestimate
from hmstats.model.feedback.queries import ColumnUse, Use
from hmstats.model.health.health import Reason

_TOLERANCE = 1.2
"""Counts within this factor agree."""
_CHANGED = frozenset({Reason.CHANGED, Reason.UNMARKED})


class Verdict(StrEnum):
    """Whether analysing will help."""

    MISSING = "missing"
    """There are no statistics of the table or the column."""
    STALE = "stale"
    """The table has changed since its statistics were made."""
    WRONG = "wrong"
    """The statistics contradict what the query has seen, or nobody has counted them."""
    BEYOND = "beyond"
    """The statistics are right: analysing will not help."""


MENDABLE = frozenset({Verdict.MISSING, Verdict.STALE, Verdict.WRONG})
"""The verdicts that a new analysis would change."""


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """The stored statistics of a column; None if unknown. `vouched`: our collector has counted it."""

    ndv: int | None = None
    nulls: int | None = None
    vouched: bool = False


@dataclass(frozen=True, slots=True)
class StoredTable:
    """The stored statistics of a table. `reason` is that of its health, None if health is not kept."""

    rows: int | None = None
    reason: Reason | None = None
    columns: Mapping[str, StoredColumn] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether rows have changed since the statistics were made."""
        return self.reason in _CHANGED


Stored = Mapping[TableName, StoredTable]


@dataclass(frozen=True, slots=True)
class Blame:
    """A table (no column), or a column that is to blame for an error, with its part of the weight."""

    table: TableName
    column: str | None
    use: Use
    verdict: Verdict
    estimated: float | None
    rows: int
    factor: float
    weight: float


def assign_blame(error: Misestimate, stored: Stored) -> list[Blame]:
    """Assign the blame for an error: the columns with the worst verdict share its weight.

    Nulls are blamed only if the query uses nothing else: engines exclude them beside every comparison. Nothing is
    blamed for an error about a table that is not among the stored ones.
    """
    if error.table is not None:
        table = stored.get(error.table)
        return [] if table is None else [_blame(error, error.table, None, Use.ROWS, _of_rows(error, table), 1)]
    known = [each for each in error.uses if each.table in stored]
    if len(known) < len(error.uses) or not known:
        return []
    asked = [each for each in known if each.use is not Use.NULLS] or known
    judged = [(each, _of_column(error, each, stored[each.table])) for each in asked]
    worst = min((verdict for _, verdict in judged), key=lambda each: _ORDER[each])
    guilty = [(each, verdict) for each, verdict in judged if verdict is worst]
    return [_blame(error, each.table, each.column, each.use, verdict, len(guilty)) for each, verdict in guilty]


_ORDER = {verdict: place for place, verdict in enumerate(Verdict)}


def _blame(error: Misestimate, table: TableName, column: str | None, use: Use, verdict: Verdict, among: int) -> Blame:
    return Blame(table, column, use, verdict, error.estimated, error.rows, error.factor, error.weight / among)


def _of_rows(error: Misestimate, table: StoredTable) -> Verdict:
    if table.rows is None:
        return Verdict.MISSING
    if table.changed:
        return Verdict.STALE
    return Verdict.BEYOND if _agree(table.rows, error.rows) else Verdict.STALE


def _of_column(error: Misestimate, each: ColumnUse, table: StoredTable) -> Verdict:
    column = table.columns.get(each.column)
    if each.use is Use.FUNCTION:
        return Verdict.BEYOND
    if column is None or (column.ndv is None and each.use is not Use.NULLS):
        return Verdict.MISSING
    if table.changed:
        return Verdict.STALE
    if _contradicts(error, each, column, table):
        return Verdict.WRONG
    return Verdict.BEYOND if column.vouched else Verdict.WRONG


def _contradicts(error: Misestimate, each: ColumnUse, column: StoredColumn, table: StoredTable) -> bool:
    """Whether the number of rows that the query saw contradicts the numbers of a column."""
    alone = len(error.uses) == 1
    if each.use is Use.GROUP and alone and column.ndv is not None:
        groups = error.rows - (1 if column.nulls else 0)
        return groups > column.ndv * _TOLERANCE + 1 or (error.whole_input and groups * _TOLERANCE + 1 < column.ndv)
    if each.use is Use.NULLS and alone and error.whole_input and column.nulls is not None and table.rows is not None:
        return not (_agree(column.nulls, error.rows) or _agree(table.rows - column.nulls, error.rows))
    if each.use is Use.EQUALITY and alone and column.ndv is not None and table.rows is not None:
        return error.rows + column.ndv - 1 > table.rows * _TOLERANCE
    return False


def _agree(one: float, other: float) -> bool:
    return max(one, other, 1) / max(min(one, other), 1) <= _TOLERANCE


def explain(column: str | None, use: Use, verdict: Verdict) -> str:
    """One clause on what is wrong with a table (no column) or a column."""
    if verdict is Verdict.MISSING:
        return "has no row count" if column is None else "has no statistics"
    if verdict is Verdict.STALE:
        return "has changed since its statistics were made"
    if verdict is Verdict.WRONG:
        return "has statistics that do not agree with what queries see"
    return _BEYOND[use]


_BEYOND = {
    Use.ROWS: "has a right row count, which the engine did not use",
    Use.EQUALITY: "has right statistics; some values are far more frequent than the engine assumes",
    Use.RANGE: "has right statistics; its values lie closer together than the engine assumes",
    Use.NULLS: "has right statistics; the engine did not use its nulls",
    Use.FUNCTION: "is compared in a way that no statistics are about",
    Use.JOIN: "has right statistics; its values are distributed otherwise than those that they are joined with",
    Use.GROUP: "has right statistics; it depends on another column or condition of the query",
}
"""The reason why a new analysis will not help, by the use of the column."""

"""Completes a request by the preferences of its table, where the caller gave nothing."""

from dataclasses import dataclass, replace
from typing import TypeVar

from hmstats.client import Metastore
from hmstats.collector.options import AS_PREFERRED, Choices, Options, Sketches
from hmstats.collector.request.statement import Statement
from hmstats.model.catalog.objects import TableName
from hmstats.model.preferences.in_force import Preferences, Stated
from hmstats.model.preferences.preference import Subject
from hmstats.model.preferences.values import Made

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class PreferredRequest:
    """A request completed by its table's preferences. `row_counts`: with noscan, count rows too."""

    request: Statement
    options: Options
    row_counts: bool


def apply_preferences(
    metastore: Metastore, request: Statement, wanted: Options | Choices, *, row_counts: bool
) -> PreferredRequest:
    """Complete a request where its caller left options open; Options leave nothing open.

    Raises StatementError for values that contradict each other.
    """
    if isinstance(wanted, Options):
        return PreferredRequest(request, wanted, row_counts)
    stated = metastore.preferences.of_table(request.table)
    table = stated.of(_subject(request.table))
    if table.statistics is Made.ROWS and request.columns is None and wanted == Choices(most_tasks=wanted.most_tasks):
        counted = replace(request, columns=(), noscan=True)
        return PreferredRequest(counted, _options(wanted, table, {}), row_counts or not request.noscan)
    by_column, without = _columns(stated, request.table, wanted)
    if request.columns is None:
        request = replace(request, without=frozenset(without))
    return PreferredRequest(request, _options(wanted, table, by_column), row_counts)


def preferred_of_writes(metastore: Metastore, table: TableName) -> PreferredRequest:
    """The request for writes to a table, which may not exist yet; it covers all rows, even if a sample is preferred.

    Raises StatementError for preferences that contradict each other.
    """
    found = apply_preferences(metastore, Statement(table), AS_PREFERRED, row_counts=False)
    return replace(found, options=replace(found.options, sample_fraction=1.0))


def _options(wanted: Choices, table: Preferences, by_column: dict[str, Sketches]) -> Options:
    sketches = _sketches(wanted, table)
    return Options(
        sample_fraction=_choose(wanted.sample_fraction, table.sample),
        precision=_choose(wanted.precision, table.precision),
        most_tasks=wanted.most_tasks,
        puffin_columns=_choose(wanted.puffin_columns, table.puffin_columns),
        by_column={name: found for name, found in by_column.items() if found != sketches},
        **sketches._asdict(),
    )


def _columns(stated: Stated, name: TableName, wanted: Choices) -> tuple[dict[str, Sketches], list[str]]:
    """The sketches of columns with preferences of their own, and the columns to leave out."""
    found = {each: stated.of(_subject(name, each)) for each in stated.columns_of(name)}
    sketches = {column: _sketches(wanted, own) for column, own in found.items() if own.statistics is not Made.NONE}
    return sketches, [column for column, own in found.items() if own.statistics is Made.NONE]


def _sketches(wanted: Choices, preferences: Preferences) -> Sketches:
    made = preferences.statistics is not Made.BOUNDS
    distinct = _choose(wanted.distinct, made)
    return Sketches(
        distinct,
        _choose(wanted.histogram, made and distinct and preferences.histogram),
        _choose(wanted.top_k, made and distinct and preferences.top_k),
    )


def _choose(chosen: _Value | None, preferred: _Value) -> _Value:
    return preferred if chosen is None else chosen


def _subject(name: TableName, column: str | None = None) -> Subject:
    return Subject(name.parent, name.table, column=column)

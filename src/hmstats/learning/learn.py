"""Judges queries: finds the statistics to blame for wrong estimates, and records them in the metastore in batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hmstats.client import Metastore
from hmstats.errors import CallRefused
from hmstats.learning.stored import StoredTables
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.misestimates import misestimates, shape_of
from hmstats.model.feedback.queries import Query
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Stored, Verdict, assign_blame

_AT_ONCE = 500


@dataclass(slots=True)
class Learned:
    """The outcome of learning from queries.

    `without_estimates` are queries without any estimate by the engine. `elsewhere` are tables that the metastore does
    not have, or hides. `recorded` entries are kept; the others were too old, or are about `refused` tables, mostly
    because the user may not write their statistics. `taken` entries were not refused.
    """

    queries: int = 0
    without_estimates: int = 0
    found: int = 0
    taken: int = 0
    recorded: int = 0
    elsewhere: set[TableName] = field(default_factory=set)
    refused: dict[TableName, CallRefused] = field(default_factory=dict)


def learn(service: Metastore, queries: Iterable[Query], *, dry_run: bool = False) -> Learned:
    """Judge the estimates of queries by the currently stored statistics, and record the blame, unless `dry_run`.

    Raises ServiceUnavailable, CallRefused if all is refused, and UnknownCall if the metastore is not hmstats.
    """
    learned, tables, waiting = Learned(), StoredTables(service), list[Seen]()
    for query in queries:
        if not query.tables:
            continue
        learned.queries += 1
        learned.without_estimates += not query.has_estimates
        stored = tables.of(query.tables)
        learned.elsewhere |= query.tables - stored.keys()
        waiting += _judge_query(query, stored)
        if len(waiting) >= _AT_ONCE:
            _record(service, waiting, learned, dry_run=dry_run)
    _record(service, waiting, learned, dry_run=dry_run)
    if learned.refused and not learned.taken:
        raise next(iter(learned.refused.values()))
    return learned


def _judge_query(query: Query, stored: Stored) -> list[Seen]:
    """The blame that a query assigns. If the engine made no estimates, only missing row counts are blamed."""
    shape, found = shape_of(query), [each for error in misestimates(query) for each in assign_blame(error, stored)]
    if not query.has_estimates:
        found = [each for each in found if each.verdict is Verdict.MISSING]
    return [Seen(each, query.engine, shape, query.at_ms) for each in found]


def _record(service: Metastore, waiting: list[Seen], learned: Learned, *, dry_run: bool) -> None:
    learned.found += len(waiting)
    if waiting and not dry_run:
        try:
            learned.recorded += service.blame.record(waiting)
            learned.taken += len(waiting)
        except CallRefused as error:
            if not error.is_of_one_object:
                raise
            _record_by_table(service, waiting, learned)
    waiting.clear()


def _record_by_table(service: Metastore, waiting: Sequence[Seen], learned: Learned) -> None:
    by_table: dict[TableName, list[Seen]] = {}
    for each in waiting:
        by_table.setdefault(each.blame.table, []).append(each)
    for table, entries in by_table.items():
        try:
            learned.recorded += service.blame.record(entries)
            learned.taken += len(entries)
        except CallRefused as error:
            if not error.is_of_one_object:
                raise
            learned.refused[table] = error

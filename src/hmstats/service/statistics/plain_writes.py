"""Writes of column statistics without anything unusual, by field: what write.py does, in a fraction of the time.

The statistics are of one engine and of different partitions and columns, carry no sketches, and nothing is to be
merged. What does not fit table and partitions just as it is, and what is of a transaction, is not written here: the
ordinary way knows how, or says why not. Writes that come while another writes to the table are done together
(waiting_writes.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Column, Parameters, TableName
from hmstats.model.provenance import Provenance
from hmstats.model.statistics_by_field import StatisticsByField, joined
from hmstats.service.statistics.events import Left, StatisticsRecorder
from hmstats.service.statistics.newest import Newest
from hmstats.service.statistics.validate import are_plain, exact_rows
from hmstats.service.statistics.waiting_writes import WaitingWrite, WaitingWrites, settle
from hmstats.store import column_statistics, parameters, partition_locks, provenance, targets, top_k, versions
from hmstats.store.details import OF_TABLE
from hmstats.store.engine import Store
from hmstats.store.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.partition_locks import LockedTable
from hmstats.store.targets import Target
from hmstats.store.unit import Unit


class _Subject(NamedTuple):
    """What a write is about: writes of one subject can be done together."""

    table: TableName
    of_table: bool
    author: str | None


class _Owners(NamedTuple):
    """Who has the statistics: ids, in their order, with what is known of each, and the columns that they may have."""

    ids: Sequence[int]
    known: Mapping[int, Parameters]
    columns: Sequence[Column]


class _Outcome(NamedTuple):
    """The table before a write, which parameters each owner has then, and the table after it for the log."""

    target: Target
    marks: Mapping[int, Parameters]
    left: Left | None


class PlainWrites:
    """Writes statistics that are plain. `keep_accuracy`: written columns are marked in COLUMN_STATS_ACCURATE."""

    def __init__(self, store: Store, events: StatisticsRecorder, *, keep_accuracy: bool) -> None:
        self._store = store
        self._events = events
        self._keep_accuracy = keep_accuracy
        self._waiting = WaitingWrites()
        self._left = Newest[TableName, Target]()

    def write(
        self, name: TableName, statistics: StatisticsByField, *, of_table: bool, author: str | None = None
    ) -> bool:
        """Write statistics of a table or of some of its partitions, all or none; False where they are not plain.

        `author` is who sends them. Raises nothing that depends on them.
        """
        subject = _Subject(name, of_table, author)
        write = self._waiting.add(subject, statistics)
        with self._store.turn(name):
            writes = self._waiting.take(write)
            try:
                self._write_all(subject, writes)
            finally:  # nobody is to wait for ever
                for each in writes:
                    each.done.cancel()
        return write.done.result()

    def _write_all(self, subject: _Subject, writes: Sequence[WaitingWrite]) -> None:
        """Writes together what can be, else one after the other."""
        given = [each.statistics for each in writes]
        together = joined(given) if len(given) > 1 else None
        if together is not None and settle(writes, partial(self._write, subject, together, given)):
            return
        for each in writes:
            settle([each], partial(self._write, subject, each.statistics, [each.statistics]))

    def _write(self, subject: _Subject, statistics: StatisticsByField, given: Sequence[StatisticsByField]) -> bool:
        """Writes the statistics, which are those given together; false where they are not plain."""
        name, of_table, author = subject

        def update(unit: Unit) -> _Outcome | None:
            target, owners = _locked(unit, name, statistics, self._left.get(name), of_table=of_table)
            if target is None or owners is None:
                return None
            column_statistics.write_by_field(unit, name, owners.ids, statistics, of_table=of_table)
            _keep_details(unit, target, [OF_TABLE] if of_table else owners.ids, statistics, author)
            marks = self._mark(unit, owners, statistics, of_table=of_table)
            versions.bump(unit, target.id, None if of_table else {each or "" for each in statistics.partitions})
            ids = dict(zip(statistics.partitions, owners.ids, strict=True))
            return _Outcome(target, marks, self._record(unit, subject, target, ids, given, marks))

        outcome = self._store.write(update)
        if outcome is None:
            return False
        target, marks, left = outcome
        put = marks.get(target.id, {}) if of_table else {}
        self._left.put(name, replace(target, version=target.version + 1, parameters={**target.parameters, **put}))
        self._events.remember(left)
        return True

    def _mark(
        self, unit: Unit, owners: _Owners, statistics: StatisticsByField, *, of_table: bool
    ) -> dict[int, dict[str, str]]:
        """Mark the written columns as accurate; which parameters each has then."""
        if not self._keep_accuracy:
            return {}
        names = [each.column for each in statistics.columns]
        found = {each: owners.known.get(each, {}).get(PARAMETER) for each in owners.ids}
        marked = {text: Accurate.parse(text).with_columns(names).text() for text in set(found.values())}
        changed = {each: {PARAMETER: marked[text]} for each, text in found.items() if marked[text] != text}
        parameters.put(unit, OF_TABLES if of_table else OF_PARTITIONS, changed)
        return {each: {PARAMETER: marked[text]} for each, text in found.items()}

    def _record(
        self,
        unit: Unit,
        subject: _Subject,
        target: Target,
        ids: Mapping[str | None, int],
        given: Sequence[StatisticsByField],
        marks: Mapping[int, Parameters],
    ) -> Left | None:
        if unit.events is None:
            return None
        sets = [written for each in given for written in each.sets(unit.now_seconds)]
        if subject.of_table:
            return self._events.table(unit, subject.table, target, sets, marks.get(target.id, {}))
        written = [(ids[each.partition], each) for each in sets]
        return self._events.partitions(unit, subject.table, target, written, marks)


def _locked(
    unit: Unit, name: TableName, statistics: StatisticsByField, known: Target | None, *, of_table: bool
) -> tuple[Target | None, _Owners | None]:
    """The table, and whose the statistics are, all locked; None where they do not fit just as they are.

    `known` is the table as it was left.
    """
    if of_table:
        target = targets.lock(unit, name, known)
        owners = _Owners([target.id], {target.id: target.parameters}, target.columns) if target else None
    else:
        names = [each or "" for each in statistics.partitions]
        found = partition_locks.lock_with_table(unit, name, names, known)
        target = found.target if found else None
        owners = _of_partitions(found, names) if found else None
    if target is None or owners is None or target.transactional:
        return target, None
    rows = [exact_rows(owners.known.get(each, {})) for each in owners.ids]
    return target, owners if are_plain(owners.columns, statistics, rows) else None


def _of_partitions(found: LockedTable, names: Sequence[str]) -> _Owners | None:
    """The partitions as owners; None where one is not there."""
    ids, known = found.partitions
    if len(ids) < len(names):
        return None
    target = found.target
    return _Owners([ids[each] for each in names], known, (*target.columns, *target.partition_keys))


def _keep_details(
    unit: Unit, target: Target, owner_ids: Sequence[int], statistics: StatisticsByField, author: str | None
) -> None:
    """Keep what details.py would: plain statistics say nothing of where they come from but who sent them."""
    names, engine = [each.column for each in statistics.columns], statistics.engine
    made = Provenance(writer=author)
    provenance.write(unit, target.id, engine, dict.fromkeys(owner_ids, dict.fromkeys(names, made)))
    if target.has_top_k:
        top_k.remove(unit, target.id, engine, owner_ids, names)

"""Fast writes of plain column statistics, by field; equal to write.py in a fraction of the time.

Plain statistics are of one engine, of different partitions and columns, and need no merge. If they do not match table
and partitions exactly, or belong to a transaction, nothing is written here: the ordinary way writes them, or raises
the error. Writes that arrive while another holds the table are combined (combined_writes.py). A table that was written
before is not read, but its definition is expected to be unchanged, whoever else has written plain statistics of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

from hmstats.model.catalog.objects import Column, Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.statistics_by_field import StatisticsByField, combine
from hmstats.service.statistics import details
from hmstats.service.statistics.writing.combined_writes import WaitingWrite, WaitingWrites, settle
from hmstats.service.statistics.writing.events import LoggedTable, StatisticsRecorder
from hmstats.service.statistics.writing.last_written import LastWrittenTables, Owners, Rows
from hmstats.service.statistics.writing.left_history import NO_HISTORY, LeftHistory, left_history
from hmstats.service.statistics.writing.validate import are_plain, exact_rows, have_sound_sketches, say_types_of
from hmstats.store.catalog import partition_locks
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.statements.upserts import ROWS_AT_ONCE
from hmstats.store.statistics import column_statistics, statistics_rows, table_facts
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS, OF_TABLES
from hmstats.store.unit.unit import Unit
from hmstats.store.unit.version_guard import ExpectedTable


class _Subject(NamedTuple):
    """The subject of a write: writes with one subject can be combined."""

    table: TableName
    of_table: bool
    author: str | None


class _Outcome(NamedTuple):
    """A table before a write and its definition afterwards, the owners of the statistics, each one's new parameters,
    the table for the log, and what is left in the history.
    """

    target: TableFacts
    definition: int
    owners: Owners
    marks: Mapping[int, Parameters]
    left: LoggedTable | None
    history: LeftHistory


class PlainWrites:
    """Writes plain statistics. With `keep_accuracy`, marks written columns in COLUMN_STATS_ACCURATE."""

    def __init__(self, store: Store, events: StatisticsRecorder, *, keep_accuracy: bool) -> None:
        self._store = store
        self._events = events
        self._keep_accuracy = keep_accuracy
        self._waiting = WaitingWrites()
        self._last_written = LastWrittenTables()
        store.on_older_database(self._last_written.forget)

    def write(
        self, name: TableName, statistics: StatisticsByField, *, of_table: bool, author: str | None = None
    ) -> bool:
        """Write statistics of a table or of some of its partitions, all or none. Returns False if they are not plain.

        `author` is the sender. Never raises an error about the statistics themselves.
        """
        if not have_sound_sketches(statistics):
            return False
        subject = _Subject(name, of_table, author)
        write = self._waiting.add(subject, statistics)
        with self._store.hold_mutex(name):
            writes = self._waiting.take_all(write)
            try:
                self._write_all(subject, writes)
            finally:  # no waiting thread may hang
                for each in writes:
                    each.done.cancel()
        return write.done.result()

    def _write_all(self, subject: _Subject, writes: Sequence[WaitingWrite]) -> None:
        """Combine the writes if possible, else do one after the other."""
        given = [each.statistics for each in writes]
        together = combine(given) if len(given) > 1 else None
        if together is not None and settle(writes, partial(self._write, subject, together, given)):
            return
        for each in writes:
            settle([each], partial(self._write, subject, each.statistics, [each.statistics]))

    def _write(self, subject: _Subject, statistics: StatisticsByField, given: Sequence[StatisticsByField]) -> bool:
        """Write the statistics, the combination of `given`. Returns False if they are not plain."""
        outcome = self._write_as_left(subject, statistics, given)
        if outcome is None:
            outcome = self._store.write(partial(self._lock_and_write, subject, statistics, given))
        if outcome is None:
            return False
        self._remember(subject, statistics, outcome)
        return True

    def _write_as_left(
        self, subject: _Subject, statistics: StatisticsByField, given: Sequence[StatisticsByField]
    ) -> _Outcome | None:
        """Write without reading the table; None if its definition has changed, or is not cached."""
        target = self._last_written.settled_table(subject.table) if self._store.can_expect else None
        if target is None or target.has_top_k or statistics.size > ROWS_AT_ONCE:
            return None
        if not self._still_caches(subject.table, target):
            return None
        owners = self._last_written.owners(subject.table, target, None if subject.of_table else _names(statistics))
        if owners is None or not _is_plain(target, owners, statistics, of_table=subject.of_table):
            return None

        def write_now(unit: Unit) -> _Outcome | None:
            # A new connection clears the caches if the database may be older than what was read of it.
            if not self._still_caches(subject.table, target):
                return None
            return self._write_unit(subject, statistics, given, target, owners, unit)

        expected = ExpectedTable(target.id, target.definition, target.version)
        return self._store.write_as_expected(expected, statistics.size, write_now)

    def _still_caches(self, name: TableName, target: TableFacts) -> bool:
        """Whether the caches still have the table, with its content if there is a log."""
        return self._last_written.table(name) is target and (not self._store.has_log or self._events.knows(target))

    def _lock_and_write(
        self, subject: _Subject, statistics: StatisticsByField, given: Sequence[StatisticsByField], unit: Unit
    ) -> _Outcome | None:
        cached, of_table = self._last_written.table(subject.table), subject.of_table
        target, owners = _lock_owners(unit, subject.table, statistics, cached, of_table=of_table)
        if target is None or owners is None or not _is_plain(target, owners, statistics, of_table=of_table):
            return None
        return self._write_unit(subject, statistics, given, target, owners, unit)

    def _write_unit(
        self,
        subject: _Subject,
        statistics: StatisticsByField,
        given: Sequence[StatisticsByField],
        target: TableFacts,
        owners: Owners,
        unit: Unit,
    ) -> _Outcome:
        """Write the details, the marks and the events, and last the statistics themselves."""
        of_table = subject.of_table
        kind = OwnerKind.TABLES if of_table else OwnerKind.PARTITIONS
        names = [each.column for each in statistics.columns]
        marks, changed = self._mark(unit, owners, statistics, of_table=of_table)
        of_own_types = say_types_of(_columns(target, of_table=of_table), statistics)
        # After a lost connection the definition is changed, so that the first try cannot write later than the second.
        lost = unit.expects is not None and unit.expects.unwritten
        plain = not (changed or lost) and of_own_types
        values = statistics_rows.values(statistics.groups, statistics.size)
        made = details.provenance_by_field(statistics, subject.author)
        tells = plain and unit.keeps_history and self._store.can_expect
        history = left_history(unit, target, owners, statistics, values, made) if tells else NO_HISTORY
        before_writes.of_written(
            unit,
            kind,
            subject.table,
            target,
            owners.ids,
            names,
            statistics.engine,
            stored=history.stored,
            since=history.since,
        )
        details.write_by_field(unit, target, [OF_TABLE] if of_table else owners.ids, statistics, made)
        if of_table:
            versions.bump_own(unit, target.id, partitioned=bool(target.partition_keys), plain=plain)
        else:
            versions.bump(unit, target.id, set(_names(statistics)), plain=plain)
        ids = dict(zip(statistics.partitions, owners.ids, strict=True))
        definition = target.definition + (not plain)
        left = self._record(unit, subject, target, ids, given, marks)
        if unit.expects:
            self._store.log(unit)
        stored = of_own_types and len(owners.ids) == 1 and owners.stored == Rows.of(statistics)
        column_statistics.write_by_field(
            unit, subject.table, owners.ids, statistics, values, of_table=of_table, are_stored=stored
        )
        left = replace(left, definition=definition) if left else None
        return _Outcome(target, definition, owners, marks, left, history)

    def _remember(self, subject: _Subject, statistics: StatisticsByField, written: _Outcome) -> None:
        ids, known, history = written.owners.ids, written.owners.known, written.history
        now = {each: {**known.get(each, {}), **written.marks.get(each, {})} for each in ids}
        partitions = None if subject.of_table else _names(statistics)
        left = Owners(ids, now, Rows.of(statistics), history.told)
        self._last_written.put(subject.table, written.target, written.definition, partitions, left)
        self._events.remember(written.left)

    def _mark(
        self, unit: Unit, owners: Owners, statistics: StatisticsByField, *, of_table: bool
    ) -> tuple[dict[int, dict[str, str]], bool]:
        """Mark the written columns as accurate. Returns each owner's new parameters, and whether any changed."""
        if not self._keep_accuracy:
            return {}, False
        names = tuple([each.column for each in statistics.columns])
        texts = {each: owners.known.get(each, {}).get(PARAMETER) for each in owners.ids}
        marked = {text: _with_columns(text, names) for text in set(texts.values())}
        changed = {each: {PARAMETER: marked[text]} for each, text in texts.items() if marked[text] != text}
        parameters.put(unit, OF_TABLES if of_table else OF_PARTITIONS, changed)
        return {each: {PARAMETER: marked[text]} for each, text in texts.items()}, bool(changed)

    def _record(
        self,
        unit: Unit,
        subject: _Subject,
        target: TableFacts,
        ids: Mapping[str | None, int],
        given: Sequence[StatisticsByField],
        marks: Mapping[int, Parameters],
    ) -> LoggedTable | None:
        if unit.events is None:
            return None
        sets = [written for each in given for written in each.sets(unit.now_seconds)]
        if subject.of_table:
            return self._events.table(unit, subject.table, target, sets, marks.get(target.id, {}))
        written = [(ids[each.partition], each) for each in sets]
        return self._events.partitions(unit, subject.table, target, written, marks)


def _names(statistics: StatisticsByField) -> list[str]:
    return [each or "" for each in statistics.partitions]


def _lock_owners(
    unit: Unit, name: TableName, statistics: StatisticsByField, cached: TableFacts | None, *, of_table: bool
) -> tuple[TableFacts | None, Owners | None]:
    """The table and the owners of the statistics, all locked; None if one does not exist.

    `cached` is the cached table, if any.
    """
    if of_table:
        target = table_facts.lock(unit, name, cached)
        return target, Owners([target.id], {target.id: target.parameters}) if target else None
    names = _names(statistics)
    locked = partition_locks.lock_with_table(unit, name, names, cached)
    if locked is None or len(locked.partitions.ids) < len(names):
        return None, None
    ids, parameters = locked.partitions
    return locked.target, Owners([ids[each] for each in names], parameters)


def _is_plain(target: TableFacts, owners: Owners, statistics: StatisticsByField, *, of_table: bool) -> bool:
    """Whether statistics match the table or partitions exactly, belong to no transaction, and none is held or waits."""
    rows = [exact_rows(owners.known.get(each, {})) for each in owners.ids]
    if target.transactional or target.locks or not target.holding.is_plain:
        return False
    return are_plain(_columns(target, of_table=of_table), statistics, rows)


def _columns(target: TableFacts, *, of_table: bool) -> tuple[Column, ...]:
    """The columns that can have statistics."""
    return target.columns if of_table else (*target.columns, *target.partition_keys)


@lru_cache(maxsize=500)
def _with_columns(text: str | None, columns: tuple[str, ...]) -> str:
    """The parameter with these columns added as accurate; cached, since writes mostly repeat."""
    return Accurate.parse(text).with_columns(columns).text()

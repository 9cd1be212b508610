"""Statistics of another metastore that are newer than ours replace ours, by column and partition.

Clocks differ, so time says nothing. What the other metastore says is newer if it is not what it was last seen to say,
and not what it was sent. So a column that both sides have alike keeps our sketches, frequent values and provenance.

If the connection of a sending breaks, it is unknown whether and when the sending is carried out. Its statistics may
arrive after later ones: then they are recognised as old statistics of ours, and ours are sent again. If ours were
deleted in the meantime, they stay deleted.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, StatisticsSet
from hmstats.service.mirrors.digests import are_numbers_of, digest, numbers, say_the_same
from hmstats.service.statistics import details
from hmstats.store.changes import versions
from hmstats.store.database.store import Store
from hmstats.store.history import before_writes
from hmstats.store.history.caller import Caller, caller
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.mirrors import seen
from hmstats.store.mirrors.seen import EMPTIED, GOT, Digests, Seen
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics, pending, table_facts
from hmstats.store.statistics.details import OF_TABLE
from hmstats.store.statistics.table_facts import TableFacts
from hmstats.store.unit.unit import Unit

WRITER = "upstream"
"""The author of statistics that were taken over."""

_MOST_LOST = 3
"""So many of the last sendings of which nobody knows the outcome are remembered of a column."""

Cut = Callable[[ColumnStatistics], ColumnStatistics]
"""Makes of our statistics what the other metastore can say of them."""

Marked = Mapping[str, Collection[str]]
"""Columns by partition name; "" is the table itself."""


@dataclass(frozen=True, slots=True)
class ComparedStatistics:
    """The statistics of a mirror that are compared: of the table itself (no partitions), or of some partitions.

    `owners` and `seen` are as they were before the other metastore was asked.
    """

    name: TableName
    table_id: int
    engine: str
    columns: tuple[str, ...]
    owners: Mapping[str, int]
    """Ids by partition name; "" is the table itself."""
    seen: Mapping[int, Seen]

    @property
    def is_on_its_way(self) -> bool:
        """Whether statistics of these columns are being sent to the other metastore, or were when a server broke."""
        return any(each.is_on_its_way for known in self.seen.values() for each in self._of_columns(known))

    def misses(self, told: Mapping[str, StatisticsSet]) -> bool:
        """Whether the other metastore does not say any more what it was last seen to say of some column."""
        return any(
            seen.of_column(self.seen.get(owner, {}), each).theirs
            for place, owner in self.owners.items()
            for each in set(self.columns).difference(_by_column(told.get(place)))
        )

    @property
    def emptied(self) -> list[str]:
        """The places whose rows were removed since the other metastore first said what it was last seen to say."""
        return [place for place, owner in self.owners.items() if self._was_emptied(self.seen.get(owner, {}))]

    def _was_emptied(self, known: Seen) -> bool:
        return any(each.ours == EMPTIED for each in self._of_columns(known))

    def _of_columns(self, known: Seen) -> list[Digests]:
        return [seen.of_column(known, each) for each in self.columns]


class Takeover:
    """Compares what another metastore says with what is stored here, and takes over what is newer."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ask(
        self, name: TableName, table_id: int, engine: str, columns: Sequence[str], names: Sequence[str] | None
    ) -> ComparedStatistics:
        """The statistics to compare, of the table itself (None) or of the named partitions that have mirrors."""
        with self._store.read() as connection:
            owners = {"": OF_TABLE} if names is None else partitions.find_ids(connection, table_id, names)
            known = seen.read(connection, table_id, engine, list(owners.values()))
        return ComparedStatistics(name, table_id, engine, tuple(columns), owners, known)

    def take_over(
        self,
        asked: ComparedStatistics,
        told: Mapping[str, StatisticsSet],
        marked: Marked,
        cut: Cut,
        *,
        settle: bool = False,
    ) -> bool:
        """Take over what is newer of what the other metastore has told, by partition name.

        `marked` are the columns that it marks as accurate, at the emptied places: it has got these since. With
        `settle`, statistics of ours that it has got are noted even if it says what it said before. Returns False,
        with nothing changed, if the mirror or what was seen has changed since `ask`.
        """
        if (
            not settle
            and not any(marked.values())
            and not any(_differs(asked, owner, told.get(place)) for place, owner in asked.owners.items())
        ):
            return True
        token = caller.set(Caller(WRITER, "taken over"))
        try:
            return self._store.write_table(asked.name, lambda unit: _taken_over(unit, asked, told, marked, cut))
        finally:
            caller.reset(token)

    def note_deleted(
        self, name: TableName, names: Sequence[str] | None, columns: Sequence[str] | None, engine: str, *, own: bool
    ) -> None:
        """Note that statistics were deleted in the other metastore, so that the next ones there are newer.

        They are the mirror's own, or those of partitions (None: of all), of these columns (None: of all).
        """

        def note(unit: Unit) -> None:
            target = table_facts.lock(unit, name)
            if target is None:
                return
            owners = [OF_TABLE] if own else None
            if not own and names is not None:
                normal = [normal_partition_name(each, target.keys) for each in names]
                owners = [*partitions.find_ids(unit.connection, target.id, normal).values()]
            seen.forget_columns(unit, target.id, engine, owners, columns)

        self._store.write_table(name, note)

    def note_sending(self, asked: ComparedStatistics, given: Mapping[str, StatisticsSet], cut: Cut) -> bool:
        """Note that statistics are being sent, by partition name: what the other metastore says next may be these.

        Returns False, with nothing changed, if the mirror or what was seen has changed since `ask`.
        """
        return self._store.write_table(asked.name, lambda unit: _note_sending(unit, asked, given, cut))

    def note_got(self, asked: ComparedStatistics, given: Mapping[str, StatisticsSet]) -> None:
        """Note that the other metastore has taken statistics: if it does not say them, others have changed them."""
        self._store.write_table(asked.name, lambda unit: _note_got(unit, asked, given))


def _differs(asked: ComparedStatistics, owner: int, told: StatisticsSet | None) -> bool:
    known = asked.seen.get(owner, {})
    says = _by_column(told)
    return any(seen.of_column(known, each).theirs != _digest(says.get(each)) for each in asked.columns)


def _taken_over(
    unit: Unit, asked: ComparedStatistics, told: Mapping[str, StatisticsSet], marked: Marked, cut: Cut
) -> bool:
    target = table_facts.lock(unit, asked.name)
    if target is None or target.id != asked.table_id:
        return False
    of_table = asked.owners == {"": OF_TABLE}
    places = {owner: place for place, owner in asked.owners.items()}
    now = asked.owners if of_table else partitions.lock(unit, target.id, sorted(asked.owners))
    known = seen.read(unit.connection, target.id, asked.engine, list(places))
    if now != asked.owners or known != asked.seen:
        return False
    ours = _stored_sets(unit, target, asked, of_table=of_table)
    comparison = {
        owner: _compare(
            asked.columns,
            _unless_marked(known.get(owner, {}), marked.get(place, ())),
            told.get(place),
            ours.get(place),
            cut,
        )
        for owner, place in places.items()
    }
    _write(unit, asked, target, {owner: each for owner, each in comparison.items() if each.newer}, told, places)
    _delete(unit, asked, comparison, of_table=of_table)
    noted = {owner: each.seen for owner, each in comparison.items() if each.seen != known.get(owner, {})}
    seen.write(unit, target.id, asked.engine, noted)
    if any(each.newer or each.gone or each.is_overwritten for each in comparison.values()):
        versions.bump(unit, target.id)
    return True


def _note_sending(unit: Unit, asked: ComparedStatistics, given: Mapping[str, StatisticsSet], cut: Cut) -> bool:
    target = table_facts.lock(unit, asked.name)
    if target is None or target.id != asked.table_id:
        return False
    known = seen.read(unit.connection, target.id, asked.engine, list(asked.owners.values()))
    if known != asked.seen:
        return False
    noted: dict[int, Seen] = {}
    for place, statistics in given.items():
        owner = asked.owners[place]
        before = known.get(owner, {})
        sending = {each.column: _sending(seen.of_column(before, each.column), each, cut) for each in statistics.columns}
        noted[owner] = {**before, **sending}
    seen.write(unit, target.id, asked.engine, noted)
    return True


def _sending(before: Digests, column: ColumnStatistics, cut: Cut) -> Digests:
    """What is known of a column of which statistics are being sent."""
    sent = numbers(cut(column))
    others = [each for each in before.unsettled if each != sent]
    return before._replace(sending=(digest(column, sketches=True), sent), lost=tuple(others[:_MOST_LOST]))


def _note_got(unit: Unit, asked: ComparedStatistics, given: Mapping[str, StatisticsSet]) -> None:
    target = table_facts.lock(unit, asked.name)
    if target is None or target.id != asked.table_id:
        return
    owners = {asked.owners[place]: {each.column for each in statistics.columns} for place, statistics in given.items()}
    noted = {
        owner: {
            column: each._replace(theirs=GOT) if each.sending and column in owners[owner] else each
            for column, each in known.items()
        }
        for owner, known in seen.read(unit.connection, target.id, asked.engine, list(owners)).items()
    }
    seen.write(unit, target.id, asked.engine, noted)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Columns that are newer there, columns that are gone there, and what is seen now."""

    newer: tuple[ColumnStatistics, ...]
    gone: tuple[str, ...]
    seen: Seen
    is_overwritten: bool
    """Whether an earlier sending has come late, so that ours must be sent again."""


def _unless_marked(known: Seen, marked: Collection[str]) -> Seen:
    """What is known of columns, nothing of those that were emptied and have been marked since: they have new rows."""
    now = {column: seen.of_column(known, column) for column in marked}
    return {**known, **{column: each.of_deleted for column, each in now.items() if each.ours == EMPTIED}}


def _compare(
    columns: Collection[str], known: Seen, told: StatisticsSet | None, stored: StatisticsSet | None, cut: Cut
) -> _Comparison:
    says, ours = _by_column(told), _by_column(stored)
    newer, gone, now = list[ColumnStatistics](), list[str](), dict(known)
    is_overwritten = False
    for column in columns:
        theirs, own = says.get(column), ours.get(column)
        before = seen.of_column(known, column)
        if theirs is not None:
            now[column], outcome = _judge(before, theirs, own, cut)
            newer += [theirs] if outcome is _Outcome.NEWER else []
            is_overwritten |= outcome is _Outcome.LATE and own is not None
        elif before.theirs:
            now[column] = before.of_deleted
            gone.append(column)
    said = {column: each for column, each in now.items() if each != Digests()}
    return _Comparison(tuple(newer), tuple(gone), said, is_overwritten)


class _Outcome(Enum):
    """The origin of the statistics that the other metastore says."""

    NEWER = auto()
    LATE = auto()
    """They were sent by us, before others, and have come after them."""
    KNOWN = auto()
    """They are ours, or they were said before, or they are of rows that are gone."""


def _judge(
    before: Digests, theirs: ColumnStatistics, own: ColumnStatistics | None, cut: Cut
) -> tuple[Digests, _Outcome]:
    """What is known of a column of which the other metastore says this, and what that is."""
    said = _digest(theirs)
    is_known = before.theirs == said
    if not is_known and before.sending and are_numbers_of(theirs, before.sending[1]):
        return Digests(said, before.sending[0], lost=before.lost), _Outcome.KNOWN
    if own is not None and say_the_same(theirs, cut(own)):
        return Digests(said, digest(own, sketches=True), lost=before.lost), _Outcome.KNOWN
    if is_known:
        return before, _Outcome.KNOWN
    left = [each for each in before.lost if not are_numbers_of(theirs, each)]
    if len(left) < len(before.lost):
        return Digests(said, lost=tuple(left)), _Outcome.LATE
    if before.ours == EMPTIED and not before.theirs:
        return before._replace(theirs=said), _Outcome.KNOWN
    return Digests(said, digest(theirs, sketches=True)), _Outcome.NEWER


def _stored_sets(
    unit: Unit, target: TableFacts, asked: ComparedStatistics, *, of_table: bool
) -> dict[str, StatisticsSet]:
    if of_table:
        found = column_statistics.read_table(unit.connection, target.id, asked.columns, asked.engine)
        return {"": found[0]} if found else {}
    by_name = column_statistics.read_partitions(
        unit.connection, target.id, list(asked.owners), asked.columns, asked.engine
    )
    return {name: sets[0] for name, sets in by_name.items() if sets}


def _write(
    unit: Unit,
    asked: ComparedStatistics,
    target: TableFacts,
    comparison: Mapping[int, _Comparison],
    told: Mapping[str, StatisticsSet],
    places: Mapping[int, str],
) -> None:
    given = {
        owner: replace(
            told[places[owner]],
            columns=each.newer,
            engine=asked.engine,
            last_analyzed_seconds=told[places[owner]].last_analyzed_seconds or unit.now_seconds,
        )
        for owner, each in comparison.items()
    }
    if not given:
        return
    names = sorted({column.column for each in given.values() for column in each.columns})
    if OF_TABLE in given:
        of, own = OwnerKind.TABLES, replace(given[OF_TABLE], partition=None)
        before_writes.of_written(unit, of, asked.name, target, [target.id], names, asked.engine)
        column_statistics.write_table(unit, target.id, asked.name, own, replaces=True)
    else:
        of = OwnerKind.PARTITIONS
        before_writes.of_written(unit, of, asked.name, target, list(given), names, asked.engine)
        column_statistics.write_partitions(unit, asked.name, given, replaces=True)
    details.write(unit, target.id, given, WRITER)
    if target.holding.has_pending:
        written = {owner: [column.column for column in each.columns] for owner, each in given.items()}
        pending.supersede(unit, target.id, written, asked.engine)


def _delete(unit: Unit, asked: ComparedStatistics, comparison: Mapping[int, _Comparison], *, of_table: bool) -> None:
    by_columns: dict[tuple[str, ...], list[int]] = {}
    for owner, each in comparison.items():
        if each.gone:
            by_columns.setdefault(each.gone, []).append(owner)
    for columns, owners in by_columns.items():
        if of_table:
            column_statistics.delete_tables(unit, [asked.table_id], columns, asked.engine)
        else:
            column_statistics.delete_partitions(unit, owners, columns, asked.engine)


def _by_column(statistics: StatisticsSet | None) -> dict[str, ColumnStatistics]:
    return {each.column: each for each in statistics.columns} if statistics else {}


def _digest(column: ColumnStatistics | None) -> str:
    return digest(column, sketches=False) if column else ""

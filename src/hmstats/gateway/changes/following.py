"""Follows relayed calls that change tables, so that no mirror outlives its original.

Before a call is relayed, a row is stored which says that it is under way; the call's effects on mirrors are written in
the transaction that removes the row. Meanwhile the upstream answers for the statistics of the call's tables. If the
outcome is unknown, since a connection or a server broke, the mirrors lose their statistics.
"""

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import structlog

from hmstats.errors import CallRefused, MetaError, UpstreamClosed, UpstreamSilent, UpstreamUnavailable
from hmstats.gateway.changes.followed_calls import (
    Change,
    DatabaseDropped,
    Dropped,
    Emptied,
    PartitionRenamed,
    PartitionsGone,
    Renamed,
)
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.calling import is_missing
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import DatabaseName, Partition, TableName
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.service.mirrors.claims import MirrorClaims
from hmstats.service.mirrors.mirrored_tables import MirroredTables
from hmstats.service.mirrors.taken_over import Takeover
from hmstats.store.database.store import Store
from hmstats.store.mirrors import calls as under_way
from hmstats.store.unit.unit import Unit

_log = structlog.get_logger("hmstats.gateway")

_PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 0.02


class Following:
    """Relays calls and follows their effects. Thread-safe.

    A call that has been under way for `patience_seconds` has lost its server, or will never be answered. The time is
    measured by this process's own clock, since the clocks of several servers differ.
    """

    def __init__(self, store: Store, tables: MirroredTables, claims: MirrorClaims, patience_seconds: float) -> None:
        self._store = store
        self._tables = tables
        self._claims = claims
        self._takeover = Takeover(store)
        self._patience_seconds = patience_seconds
        self._seen_at: dict[str, float] = {}
        """The time at which this process first saw each call under way."""

    def passed(self, calls: UpstreamCalls, changes: Sequence[Change], relay: Callable[[], Relayed]) -> Relayed:
        """The answer of `relay`, once the call's effects on mirrors are stored. Raises as `relay` does."""
        if not any(self._concerns(each) for each in changes):
            return relay()
        subjects = [subject for each in changes for subject in _subjects(each)]
        with self._note_under_way(subjects) as call_id:
            relayed = relay()
            if not relayed.refused:
                self._follow(calls, call_id, changes, subjects)
            return relayed

    def deleted(
        self,
        calls: UpstreamCalls,
        scope: StatisticsScope,
        request: Request,
        relay: Callable[[], Relayed],
        here: Callable[[], Relayed],
    ) -> Relayed:
        """Delete statistics of a table at the upstream, then here; returns the answer. Raises as `relay` and `here` do.

        Statistics that were not sent to the upstream yet are deleted here, although the upstream answers that there are
        none.
        """
        if self._tables.mirror(scope.table) is None:
            return relay()
        with self._note_under_way([scope.table]):
            relayed = relay()
            if not relayed.refused:
                here()
                self._takeover.note_deleted(scope.table, scope.partitions, scope.columns, scope.engine, own=scope.own)
                return relayed
            is_here = is_missing(request.head.name, relayed) and self._has_statistics(calls, scope)
            return here() if is_here else relayed

    def _has_statistics(self, calls: UpstreamCalls, scope: StatisticsScope) -> bool:
        """Whether the table exists and statistics of it are stored here."""
        try:
            is_same = self._tables.is_same(calls.table(scope.table))
        except (CallRefused, MetaError):
            return False
        return is_same and self._tables.have_statistics(
            scope.table,
            own=scope.own,
            names=scope.partitions,
            columns=scope.columns,
            engine=scope.engine,
        )

    @contextmanager
    def _note_under_way(self, subjects: Sequence[TableName | DatabaseName]) -> Iterator[str]:
        """Record that a call is under way, and wait until no statistics of its tables are being sent."""
        call_id = secrets.token_hex(12)
        self._store.write(lambda unit: under_way.begin(unit, call_id, list(dict.fromkeys(subjects))))
        try:
            self._wait_for_sending(subjects)
            yield call_id
        except UpstreamSilent:
            raise  # the upstream may still carry it out: the row stays
        except UpstreamUnavailable:
            self._end(call_id, lambda _: None)
            raise
        except BaseException:
            self._end(call_id, lambda unit: self._forget_statistics(unit, subjects))
            raise
        self._end(call_id, lambda _: None)

    def _wait_for_sending(self, subjects: Sequence[TableName | DatabaseName]) -> None:
        """Wait until no statistics of the tables are being sent: the upstream must not receive them after the call."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for table in [each for each in subjects if isinstance(each, TableName)]:
            while self._claims.is_being_sent(table):
                if time.monotonic() > until:
                    raise UpstreamUnavailable(
                        f"table {table} cannot be changed while its statistics are sent; try again later"
                    )
                time.sleep(_LOOK_SECONDS)

    def end_lost_calls(self) -> None:
        """Remove the statistics of tables that may have been changed by calls whose outcome is lost."""
        now = time.monotonic()
        with self._store.read() as connection:
            found = under_way.listed(connection)
        self._seen_at = {each.id: self._seen_at.get(each.id, now) for each in found}
        for each in found:
            if now - self._seen_at[each.id] < self._patience_seconds:
                continue
            _log.warning("call_lost", object=str(each.subject))
            self._end(each.id, partial(self._forget_statistics, subjects=[each.subject]))

    def _follow(
        self,
        calls: UpstreamCalls,
        call_id: str,
        changes: Sequence[Change],
        subjects: Sequence[TableName | DatabaseName],
    ) -> None:
        try:
            gone = {each: self._dropped_partitions(calls, each) for each in changes if isinstance(each, PartitionsGone)}
            renamed = {each: calls.table(each.new) for each in changes if isinstance(each, Renamed)}
            moved = {
                each: self._renamed_partition(calls, each) for each in changes if isinstance(each, PartitionRenamed)
            }
        except (CallRefused, MetaError, UpstreamClosed) as error:
            _log.warning("mirrors_forgotten", objects=[str(each) for each in subjects], reason=str(error))
            self._end(call_id, lambda unit: self._forget_statistics(unit, subjects))
            return

        def follow(unit: Unit) -> None:
            for each in changes:
                match each:
                    case Dropped():
                        self._tables.forget_table(unit, each.table)
                    case DatabaseDropped():
                        self._tables.forget_database(unit, each.database)
                    case Renamed():
                        self._tables.rename_table(unit, each.table, renamed[each])
                    case Emptied():
                        self._tables.empty(unit, each.table, each.names)
                    case PartitionsGone():
                        self._tables.forget_partitions(unit, each.table, gone[each])
                    case PartitionRenamed():
                        self._tables.rename_partition(unit, each.table, *moved[each])

        self._end(call_id, follow)

    def _dropped_partitions(self, calls: UpstreamCalls, change: PartitionsGone) -> list[str]:
        """The names of the dropped partitions that have mirrors. Raises CallRefused, MetaError, UpstreamClosed."""
        mirror = self._tables.mirror(change.table)
        if mirror is None:
            return []
        if not change.unnamed:
            return change.names_with([each.name for each in mirror.partition_keys])
        there = set(calls.partition_names(change.table))
        return [each for each in self._tables.partition_names(change.table) if each not in there]

    def _renamed_partition(self, calls: UpstreamCalls, change: PartitionRenamed) -> tuple[str, str, Partition | None]:
        """The old and the new name of a partition, and the partition. Raises CallRefused, MetaError, UpstreamClosed."""
        keys = [each.name for each in calls.table(change.table).table.partition_keys]
        old, new = (partition_name(keys, each) for each in (change.old, change.new))
        return old, new, calls.partitions(change.table, keys, [new]).get(new)

    def _concerns(self, change: Change) -> bool:
        return isinstance(change, DatabaseDropped) or self._tables.mirror(change.table) is not None

    def _forget_statistics(self, unit: Unit, subjects: Sequence[TableName | DatabaseName]) -> None:
        """Forget the statistics of all mirrors that may have changed."""
        for each in dict.fromkeys(subjects):
            if isinstance(each, TableName):
                self._tables.forget_statistics(unit, each)
            else:
                self._tables.forget_statistics_in(unit, each)

    def _end(self, call_id: str, follow: Callable[[Unit], None]) -> None:
        def end(unit: Unit) -> None:
            follow(unit)
            under_way.end(unit, call_id)

        self._store.write(end)


def _subjects(change: Change) -> Sequence[TableName | DatabaseName]:
    match change:
        case DatabaseDropped():
            return [change.database]
        case Renamed():
            return [change.table, change.new]
        case _:
            return [change.table]

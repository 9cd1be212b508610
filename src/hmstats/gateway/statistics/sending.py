"""Sends statistics that were written here to the upstream, after the writes or before their answers.

The rows tell what is to be sent (service/mirrors/unsent.py), so a restart loses nothing. Before statistics are sent,
they are compared with the upstream's: newer ones there are taken over, not overwritten.
"""

import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog

from hmstats.errors import CallRefused, MetaError, NoSuchObject, UpstreamAway, UpstreamClosed
from hmstats.gateway.statistics.mirroring import CHANGING, Mirroring
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.metrics import SENT, UNSENT
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, StatisticsSet
from hmstats.service.mirrors.claims import MirrorClaim
from hmstats.service.mirrors.digests import say_the_same
from hmstats.service.mirrors.taken_over import ComparedStatistics
from hmstats.service.mirrors.unsent import Unsent, Unsettled
from hmstats.store.database.store import Store
from hmstats.store.mirrors.mirrored import Mirror

_log = structlog.get_logger("hmstats.gateway")

_PATIENCE_SECONDS = 30.0
"""How long a call waits for statistics of its table that are being sent."""
_LOOK_SECONDS = 0.02
_SENT_AT_ONCE = 100
"""The most partitions whose statistics are sent in one call."""
_PAUSE_SECONDS = 60
"""How long to wait before sending statistics of a table again that the upstream refused."""
_BROKEN_PAUSE_SECONDS = 5
"""How long to wait after the connection broke: the upstream may be restarting."""


class Sending:
    """Sends the statistics that the upstream called `name` lacks. Thread-safe."""

    def __init__(self, store: Store, mirroring: Mirroring, upstream: str) -> None:
        self._unsent_tables, self._sent_columns = UNSENT.labels(upstream), SENT.labels(upstream)
        self._unsent = Unsent(store)
        self._mirroring = mirroring
        self._claims = mirroring.claims
        self._lock = threading.Lock()
        self._paused: dict[int, float] = {}
        """The time until which each table is left alone, by id."""
        self._is_cut_short = threading.Event()

    def run(self, calls: UpstreamCalls) -> int:
        """Send all unsent statistics. Returns the number of tables that could not be sent.

        Raises StoreUnavailable, and UpstreamAway, which ends it: no table is left alone for that.
        """
        failed = 0
        with self._lock:
            now = time.monotonic()
            self._paused = {table_id: until for table_id, until in self._paused.items() if until > now}
            for each in self._unsent.everything():
                if self._is_cut_short.is_set():
                    break
                failed += each.table_id in self._paused or not self._send_claimed(calls, each)
            self.count_unsent()
        return failed

    def cut_short(self) -> None:
        """Make sending end after the current call: the server stops, and must leave no claims."""
        self._is_cut_short.set()

    def names(self) -> list[TableName]:
        """The tables with statistics that were never seen to be equal at the upstream."""
        return [each.name for each in self._unsent.everything() if any(True for _ in self._unsent.unsettled(each))]

    def send_everything(self, calls: UpstreamCalls) -> dict[TableName, str]:
        """Send all unsent statistics, when no server does. Returns the reasons for tables that could not be sent."""
        failed: dict[TableName, str] = {}
        for each in self._unsent.everything():
            reason = self.send_table(calls, each.name)
            if reason is not None:
                failed[each.name] = reason
        return failed

    def send_before(self, calls: UpstreamCalls, name: TableName) -> None:
        """Send unsent statistics of a table before a change of the table that may unmark its columns.

        The upstream marks the columns that it receives as accurate. Statistics that cannot be sent now are sent later.
        """
        if self._unsent.is_unsent(name):
            reason = self.send_table(calls, name)
            if reason is not None:
                _log.warning("not_sent", object=str(name), reason=reason)

    def send_table(self, calls: UpstreamCalls, name: TableName) -> str | None:
        """Send unsent statistics of a table now. Returns why they could not be sent, None if all were."""
        found = self._unsent.mirror_of(name)
        if found is None:
            return "the table is gone"
        claim = self._wait_for_claim(found.table_id)
        if claim is None:
            return "its other statistics are being sent: try again later"
        try:
            version = self._unsent.version(found.table_id)
            if not self._send(calls, found, claim):
                return "it is being changed: try again later"
            claim.mark_sent(version)
        except (CallRefused, MetaError, UpstreamClosed) as error:
            return str(error)
        finally:
            claim.release()
        return None

    def send_again(self, calls: UpstreamCalls, scope: StatisticsScope) -> None:
        """Send statistics that were written here and that the upstream has already, unless it marks their columns.

        A metastore marks the columns that are written, whatever they were before. Raises CallRefused, MetaError,
        UpstreamClosed.
        """
        if not scope.columns:
            return
        places = [*([""] if scope.own else []), *(scope.partitions or ())]
        unmarked = self._mirroring.tables.unmarked(scope.table, places, scope.columns)
        found = self._unsent.mirror_of(scope.table) if unmarked else None
        if found is None or (scope.engine != DEFAULT_ENGINE and not calls.generation.is_4):
            return
        if not self._unsent.settled(found, scope.engine, unmarked):
            return
        claim = self._wait_for_claim(found.table_id)
        if claim is None:
            return
        try:
            for places in _batches(unmarked):
                self._send_settled(calls, found, scope.engine, {each: unmarked[each] for each in places}, claim)
        finally:
            claim.release()

    @contextmanager
    def held_back(self, name: TableName) -> Iterator[None]:
        """Keep all servers from sending statistics of a table: Hive may lose one of two changes at the same time."""
        found = self._unsent.mirror_of(name)
        claim = None if found is None else self._wait_for_claim(found.table_id)
        try:
            yield
        finally:
            if claim is not None:
                claim.release()

    def count_unsent(self) -> int:
        """Count the tables with unsent statistics, and set the metric. Returns their number."""
        count = self._unsent.count()
        self._unsent_tables.set(count)
        return count

    def _wait_for_claim(self, table_id: int) -> MirrorClaim | None:
        """The claim on a mirror, once no other server sends its statistics; None if that takes too long."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while (claim := self._claims.take(table_id)) is None and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        return claim

    def _send_claimed(self, calls: UpstreamCalls, mirror: Mirror) -> bool:
        claim = self._claims.take(mirror.table_id)
        if claim is None:
            return True
        try:
            version = self._unsent.version(mirror.table_id)
            is_done = self._send(calls, mirror, claim)
            if is_done:
                claim.mark_sent(version)
        except UpstreamAway:
            raise
        except (CallRefused, MetaError, UpstreamClosed) as error:
            pause = _BROKEN_PAUSE_SECONDS if isinstance(error, UpstreamClosed) else _PAUSE_SECONDS
            self._paused[mirror.table_id] = time.monotonic() + pause
            _log.warning("not_sent", object=str(mirror.name), reason=str(error))
            return False
        finally:
            claim.release()
        return is_done

    def _send(self, calls: UpstreamCalls, mirror: Mirror, claim: MirrorClaim) -> bool:
        """Send unsent statistics of a table. Returns whether the upstream has all of them, or the table is gone.

        Raises CallRefused, MetaError, UpstreamClosed.
        """
        for wanted in self._unsent.unsettled(mirror):
            if self._is_cut_short.is_set():
                return False
            if wanted.engine != DEFAULT_ENGINE and not calls.generation.is_4:
                continue  # before Hive 4 there are no engines: the statistics would replace those of other engines
            if not self._send_some(calls, mirror, wanted, claim):
                now = self._unsent.name_of(mirror)
                if now is None or now == mirror.name:
                    return now is None
                return self._send(calls, mirror._replace(name=now), claim)
        return True

    def _send_some(self, calls: UpstreamCalls, mirror: Mirror, wanted: Unsettled, claim: MirrorClaim) -> bool:
        scope = _scope(mirror, wanted)
        reason = self._mirroring.reason_left(calls, scope, settle=True)
        if reason is not None:
            if reason == CHANGING or self._unsent.name_of(mirror) != mirror.name:
                return False
            raise MetaError(f"statistics of it are left to the upstream: {reason}")
        # Nothing is asked of the upstream after the comparison: writes of others meanwhile would be overwritten.
        table = self._mirroring.tables.find(mirror.name)
        if table is None:
            return False
        there = {each.name.lower() for each in table.columns}
        # Read before the statistics: if they are changed meanwhile, the mismatch shows when the sending is recorded.
        asked = self._ask(mirror, wanted)
        statistics = [each for each in self._unsent.statistics(mirror, wanted, there) if each.columns]
        return not statistics or self._put(calls, mirror, scope, asked, statistics, claim)

    def _send_settled(
        self,
        calls: UpstreamCalls,
        mirror: Mirror,
        engine: str,
        columns: Mapping[str, Sequence[str]],
        claim: MirrorClaim,
    ) -> None:
        """Send statistics that the upstream agrees with: columns by partition, where "" is the table itself."""
        names = None if "" in columns else list(columns)
        wanted = Unsettled(engine, names, tuple(sorted({each for some in columns.values() for each in some})))
        asked = self._ask(mirror, wanted)
        statistics = self._unsent.settled(mirror, engine, columns)
        if statistics:
            self._put(calls, mirror, _scope(mirror, wanted), asked, statistics, claim)

    def _ask(self, mirror: Mirror, wanted: Unsettled) -> ComparedStatistics:
        takeover = self._mirroring.takeover
        return takeover.ask(mirror.name, mirror.table_id, wanted.engine, wanted.columns, wanted.names)

    def _put(
        self,
        calls: UpstreamCalls,
        mirror: Mirror,
        scope: StatisticsScope,
        asked: ComparedStatistics,
        statistics: Sequence[StatisticsSet],
        claim: MirrorClaim,
    ) -> bool:
        """Send statistics in one call. Returns whether the upstream has them now."""
        takeover, given = self._mirroring.takeover, {each.partition or "": each for each in statistics}
        if not given.keys() <= asked.owners.keys() or not takeover.note_sending(
            asked, given, calls.generation.answer_to
        ):
            return False
        if not claim.still_holds():
            return False
        calls.put_statistics(mirror.name, statistics)
        self._sent_columns.inc(sum(len(each.columns) for each in statistics))
        wrong = self._sent_to_recreated(calls, mirror, given)
        if wrong:
            _log.warning("sent_to_another", object=str(mirror.name), partitions=[each for each in wrong if each])
            _delete_sent(calls, mirror.name, wrong)
            return False
        takeover.note_got(asked, given)
        return self._mirroring.sync(calls, scope, settle=True)

    def _sent_to_recreated(
        self, calls: UpstreamCalls, mirror: Mirror, given: Mapping[str, StatisticsSet]
    ) -> list[StatisticsSet]:
        """The statistics that went to a table or partitions which were recreated since the last comparison."""
        tables = self._mirroring.tables
        try:
            found = calls.table(mirror.name)
        except NoSuchObject:
            return []
        if not tables.is_same(found):
            return list(given.values())
        names = [each for each in given if each]
        if not names:
            return []
        keys = [each.name for each in found.table.partition_keys]
        other = tables.other_partitions(mirror.table_id, names, calls.partitions(mirror.name, keys, names))
        return [given[each] for each in other]


def _scope(mirror: Mirror, wanted: Unsettled) -> StatisticsScope:
    names = () if wanted.names is None else tuple(wanted.names)
    return StatisticsScope(mirror.name, wanted.names is None, names, wanted.columns, wanted.engine)


def _batches(places: Collection[str]) -> Iterator[list[str]]:
    """Groups of places whose statistics fit in one call: the table itself, which is "", or some of its partitions."""
    if "" in places:
        yield [""]
    names = [each for each in places if each]
    for start in range(0, len(names), _SENT_AT_ONCE):
        yield names[start : start + _SENT_AT_ONCE]


def _delete_sent(calls: UpstreamCalls, name: TableName, wrong: Sequence[StatisticsSet]) -> None:
    """Delete the statistics of a table or of partitions that are still as they were sent by mistake."""
    for each in wrong:
        columns = [column.column for column in each.columns]
        if each.partition is None:
            told = calls.table_statistics(name, columns, each.engine)
        else:
            told = calls.partition_statistics(name, [each.partition], columns, each.engine)
        sent = {column.column: calls.generation.answer_to(column) for column in each.columns}
        for found in told.values():
            same = [column.column for column in found.columns if say_the_same(column, sent[column.column])]
            calls.delete_statistics(name, each.partition, same, each.engine)

"""Updates the statistics of a call's scope from the upstream before the call is answered.

Each call asks the upstream for the current state of its table, its partitions and their statistics. If nothing differs
from the last comparison, nothing changes here; newer statistics are taken over.
"""

import time
from collections.abc import Callable, Sequence

import structlog

from hmstats.errors import (
    CallRefused,
    InvalidInput,
    InvalidObject,
    MetaError,
    NoSuchObject,
    StoreUnavailable,
    UpstreamUnavailable,
)
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import normal_partition_name
from hmstats.model.catalog.objects import DatabaseName, Table, TableName, is_view
from hmstats.model.parameters.accurate import PARAMETER, Accurate
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.service.mirrors.claims import MirrorClaims
from hmstats.service.mirrors.mirrored_tables import MirroredTables, UpstreamTable
from hmstats.service.mirrors.taken_over import ComparedStatistics, Takeover
from hmstats.store.database.store import Store

_log = structlog.get_logger("hmstats.gateway")

_TRIES = 3
"""How often a comparison is repeated that another one has disturbed."""
_PATIENCE_SECONDS = 5.0
"""How long a call waits for statistics that are being sent to the upstream."""
_LOOK_SECONDS = 0.02
_MOST_LOOKED_AT = 1_000
"""A renamed table is not searched for among more tables than this."""
CHANGING = "it is being changed"
"""The reason for leaving a table to the upstream only for the moment."""


class Mirroring:
    """Keeps mirrors equal to the upstream's tables. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self.tables = MirroredTables(store)
        self.claims = MirrorClaims(store)
        self._store = store
        self.takeover = Takeover(store)
        self._in_vain: set[TableName] = set()
        """Tables whose statistics are being sent for so long that a call has given up waiting for them."""

    def sync(self, calls: UpstreamCalls, scope: StatisticsScope, *, settle: bool = False) -> bool:
        """Update the statistics from the upstream. Returns whether they are stored here now, and current.

        Those of transactional tables and views never are. `settle` records which of our statistics the upstream has
        received. Raises UpstreamUnavailable and UpstreamClosed.
        """
        return self.reason_left(calls, scope, settle=settle) is None

    def keep_database(self, calls: UpstreamCalls, name: DatabaseName) -> None:
        """Create the mirror of a database, to which preferences for all of its tables can refer.

        Raises NoSuchObject, MetaError, UpstreamUnavailable and UpstreamClosed.
        """
        try:
            is_there = calls.has_database(name)
        except CallRefused as error:
            raise MetaError(f"database {name.database} cannot be looked at: {error}") from error
        if not is_there:
            self._forget_if_missing(calls.as_gateway, name)
            raise NoSuchObject(f"database {name.database} not found")
        self.tables.keep_database(name)

    def reason_left(self, calls: UpstreamCalls, scope: StatisticsScope, *, settle: bool = False) -> str | None:
        """The reason to leave statistics to the upstream; None if they are here and current. Raises as `sync` does."""
        try:
            return self._reason_left(calls, scope, settle=settle)
        except NoSuchObject as error:
            self._follow_missing(calls, scope.table)
            return str(error)
        except (UpstreamUnavailable, StoreUnavailable):
            raise
        except (CallRefused, MetaError, InvalidObject, InvalidInput) as error:
            _log.info("left_to_upstream", object=str(scope.table), reason=str(error))
            return str(error)

    def _reason_left(self, calls: UpstreamCalls, scope: StatisticsScope, *, settle: bool) -> str | None:
        name = scope.table
        found = calls.table(name)
        if not settle and not self.tables.is_same(found):
            # Statistics that are being sent may have reached the new table; the sender removes them there.
            self._wait_while_sent(name, lambda: True)
            found = calls.table(name)
        reason = why_not_mirrored(found.table)
        if reason is not None:
            return reason
        table_id = self.tables.keep(found)
        if table_id is None:
            return CHANGING
        keys = [each.name for each in found.table.partition_keys]
        names = self._partitions(calls, scope, table_id, keys)
        if names is None:
            return CHANGING
        own = {each.name.lower() for each in found.table.columns}
        columns = sorted(own if scope.columns is None else own.intersection(scope.columns))
        if not columns:
            return None
        engines = dict.fromkeys((scope.engine, DEFAULT_ENGINE)) if calls.generation.is_4 else (DEFAULT_ENGINE,)
        for engine in engines:
            if scope.own and not self._compare(calls, scope, table_id, engine, columns, None, settle=settle):
                return CHANGING
            if names and not self._compare(calls, scope, table_id, engine, columns, names, settle=settle):
                return CHANGING
        return None

    def _partitions(
        self, calls: UpstreamCalls, scope: StatisticsScope, table_id: int, keys: Sequence[str]
    ) -> list[str] | None:
        """Mirror the partitions of a scope. Returns their names, None if that fails."""
        if not keys or scope.partitions == ():
            return []
        asked = None if scope.partitions is None else _normal(scope.partitions, keys)
        names = calls.partition_names(scope.table) if asked is None else asked
        found = calls.partitions(scope.table, keys, names)
        kept = self.tables.keep_partitions(table_id, scope.table, asked, found)
        return list(found) if kept else None

    def _compare(
        self,
        calls: UpstreamCalls,
        scope: StatisticsScope,
        table_id: int,
        engine: str,
        columns: Sequence[str],
        names: Sequence[str] | None,
        *,
        settle: bool,
    ) -> bool:
        name = scope.table

        def ask() -> ComparedStatistics:
            return self.takeover.ask(name, table_id, engine, columns, names)

        for _ in range(_TRIES):
            asked = ask()
            if not settle and asked.is_on_its_way:
                # If the upstream lacks these, they may have been deleted, or may not have arrived yet.
                self._wait_while_sent(name, lambda: ask().is_on_its_way)
                asked = ask()
            marked = _new_marks(calls, asked)
            if names is None:
                told = calls.table_statistics(name, columns, engine)
            else:
                told = calls.partition_statistics(name, names, columns, engine)
            if asked.misses(told) and not self.tables.is_same(calls.table(name)):
                return False
            if self.takeover.take_over(asked, told, marked, calls.generation.answer_to, settle=settle):
                return True
        return False

    def _wait_while_sent(self, name: TableName, waits: Callable[[], bool]) -> None:
        """Wait until statistics of a table are not being sent, or until waiting is no longer needed."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while self.claims.is_being_sent(name):
            if name in self._in_vain or not waits():
                return
            if time.monotonic() > until:
                self._in_vain.add(name)
                return
            time.sleep(_LOOK_SECONDS)
        self._in_vain.discard(name)

    def _follow_missing(self, calls: UpstreamCalls, name: TableName) -> None:
        """Rename the mirror of a table that the upstream no longer has under its name, or remove the mirror.

        The mirror of a table that is only hidden from a client's user stays.
        """
        as_gateway = calls.as_gateway
        if self.tables.find(name) is None or not _is_missing(as_gateway, name):
            return
        if self._forget_if_missing(as_gateway, name.parent):
            return
        renamed = self._find_renamed(as_gateway, name)
        if renamed is None:
            self._store.write(lambda unit: self.tables.forget_table(unit, name))
        else:
            self.tables.keep(renamed)

    def _forget_if_missing(self, as_gateway: UpstreamCalls, name: DatabaseName) -> bool:
        """Forget a database that does not exist any more. Returns whether it was forgotten.

        The list of databases decides: a Hive whose own database fails answers that a single database is missing.
        """
        try:
            there = as_gateway.databases(name.catalog)
        except CallRefused:
            return False
        if name.database in {each.lower() for each in there}:
            return False
        self._store.write(lambda unit: self.tables.forget_database(unit, name))
        return True

    def _find_renamed(self, calls: UpstreamCalls, name: TableName) -> UpstreamTable | None:
        """The table of a mirror under its new name, found by its id in its database; None if it is not found."""
        upstream_id = self.tables.upstream_id(name)
        if upstream_id is None:
            return None
        try:
            names = set(calls.table_names(name.parent)) - {
                each.table for each in self.tables.names() if each.parent == name.parent
            }
            if not 0 < len(names) <= _MOST_LOOKED_AT:
                return None
            found = calls.tables(name.parent, sorted(names))
        except CallRefused:  # the database is gone, or the gateway's user may not see its tables
            return None
        return next((each for each in found if each.id == upstream_id), None)


def _is_missing(calls: UpstreamCalls, name: TableName) -> bool:
    """Whether the upstream answers that a table does not exist. Raises UpstreamUnavailable and UpstreamClosed."""
    try:
        calls.table(name)
    except NoSuchObject:
        return True
    except CallRefused:
        return False
    return False


def why_not_mirrored(table: Table) -> str | None:
    """The reason why statistics of a table are not kept here: those of transactional tables depend on transactions."""
    if is_view(table):
        return "it is a view"
    return "it is transactional" if table.parameters.get("transactional", "").lower() == "true" else None


def _new_marks(calls: UpstreamCalls, asked: ComparedStatistics) -> dict[str, frozenset[str]]:
    """The columns that the upstream marks as accurate, for the parts of a comparison whose rows were removed."""
    places = asked.emptied
    if not places:
        return {}
    table = calls.table(asked.name).table
    parameters = {"": table.parameters} if "" in places else {}
    names = [each for each in places if each]
    if names:
        found = calls.partitions(asked.name, [each.name for each in table.partition_keys], names)
        parameters |= {name: each.parameters for name, each in found.items()}
    return {place: Accurate.parse(each.get(PARAMETER)).columns for place, each in parameters.items()}


def _normal(names: Sequence[str], keys: Sequence[str]) -> list[str]:
    return sorted({normal_partition_name(each, keys) for each in names})

"""Takes over all old statistics of the upstream before a client asks for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hmstats.errors import CallRefused, MetaError, UpstreamUnavailable
from hmstats.gateway.statistics.mirroring import Mirroring, why_not_mirrored
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.catalog.wildcards import compile_any
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE

_PARTITIONS_AT_ONCE = 1_000
_IMPALA = "impala"
"""The engine, besides the default one, of which a Hive 4 may have statistics."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """A table of the upstream; `reason` is why its statistics are left to the upstream, None if they are not."""

    table: TableName
    reason: str | None


class Adopting:
    """Goes through tables of the upstream: those that match `patterns`, DB or DB.TABLE with * for any text; none: all.

    Not thread-safe.
    """

    def __init__(self, calls: UpstreamCalls, mirroring: Mirroring, patterns: Sequence[str] = ()) -> None:
        self._calls = calls
        self._mirroring = mirroring
        self._patterns = [each if "." in each else f"{each}.*" for each in map(str.lower, patterns)] or ["*.*"]

    def tables(self) -> Iterator[Adopted]:
        """The tables in the order of their names; nothing is taken over. Raises as `take_over` does."""
        for name in self._names():
            try:
                reason = why_not_mirrored(self._calls.table(name).table)
            except UpstreamUnavailable:
                raise
            except (CallRefused, MetaError) as error:
                reason = str(error)
            yield Adopted(name, reason)

    def take_over(self) -> Iterator[Adopted]:
        """Take over the statistics of the tables in the order of their names, and yield each table. Can be repeated.

        Raises UpstreamUnavailable and UpstreamClosed.
        """
        for name in self._names():
            yield Adopted(name, self._take_over_table(name))

    def _take_over_table(self, name: TableName) -> str | None:
        engine = _IMPALA if self._calls.generation.is_4 else DEFAULT_ENGINE
        reason = self._mirroring.reason_left(self._calls, StatisticsScope(name, own=True, engine=engine))
        if reason is not None:
            return reason
        for batch in self._partitions(name):
            scope = StatisticsScope(name, own=False, partitions=tuple(batch), engine=engine)
            reason = self._mirroring.reason_left(self._calls, scope)
            if reason is not None:
                return reason
        return None

    def _partitions(self, name: TableName) -> Iterator[Sequence[str]]:
        mirror = self._mirroring.tables.mirror(name)
        if mirror is None or not mirror.partition_keys:
            return
        names = self._calls.partition_names(name)
        for start in range(0, len(names), _PARTITIONS_AT_ONCE):
            yield names[start : start + _PARTITIONS_AT_ONCE]

    def _names(self) -> Iterator[TableName]:
        is_wanted = compile_any(self._patterns, any_text="*", any_character="?").fullmatch
        databases = [pattern.partition(".")[0] for pattern in self._patterns]
        is_searched = compile_any(databases, any_text="*", any_character="?").fullmatch
        for catalog in self._calls.catalogs():
            for database in filter(is_searched, map(str.lower, self._calls.databases(catalog))):
                for table in self._calls.table_names(DatabaseName(catalog, database)):
                    name = TableName(catalog, database, table.lower())
                    if is_wanted(name.short):
                        yield name

"""The gateway's own calls to the upstream: they read facts about tables, and send statistics.

They use the relay's connections, as the user of the client for whom they are made, so that the upstream's own rules
apply.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hmstats.errors import CallRefused, NoSuchObject, UnknownCall
from hmstats.gateway.upstream.calling import WholeAnswer, request_of, value_of
from hmstats.gateway.upstream.generation import Generation
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.model.catalog.names import database_text, partition_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, DatabaseName, Partition, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.column_types import of_own_kind
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.mirrored_tables import UpstreamTable
from hmstats.wire.catalog.objects import partitions_from_thrift, table_from_thrift
from hmstats.wire.idl import extension, hive_metastore
from hmstats.wire.statistics.column_statistics import column_from_thrift

PARTITIONS_A_CALL = 1_000
_COLUMNS_A_CALL = 400
"""Hive 4 on Derby writes no more than 498 columns of a table or partition in one call."""
_EVERY = -1
_ABLE = hive_metastore.ClientCapabilities(values=[hive_metastore.ClientCapability.INSERT_ONLY_TABLES])
"""Capabilities of the client: no rows are read, so insert-only tables may be returned too."""


class UpstreamCalls:
    """Asks the upstream as the user of a session; `itself` is the gateway's own session. Not thread-safe."""

    def __init__(self, relay: UpstreamRelay, session: Session, generation: Generation, itself: Session) -> None:
        self._relay = relay
        self._session = session
        self.generation = generation
        self._itself = itself

    @property
    def as_gateway(self) -> "UpstreamCalls":
        """Calls as the gateway itself, since the upstream may hide existing objects from a user."""
        return UpstreamCalls(self._relay, self._itself, self.generation, self._itself)

    def call(self, method: str, *arguments: Any) -> Any:
        """The answer to a call. Raises CallRefused, UpstreamUnavailable, UpstreamClosed."""
        return ask_upstream(self._relay, self._session, method, *arguments)

    def catalogs(self) -> list[str]:
        """The names of all catalogs; before Hive 3 there is only one."""
        try:
            return sorted(self.call("get_catalogs").names)
        except UnknownCall:
            return [DEFAULT_CATALOG]

    def databases(self, catalog: str) -> list[str]:
        """The names of all databases of a catalog."""
        if catalog == DEFAULT_CATALOG:
            return sorted(self.call("get_all_databases"))
        return sorted(self.call("get_databases", database_text(DatabaseName(catalog, ""))))

    def has_database(self, name: DatabaseName) -> bool:
        """Whether a database exists."""
        try:
            self.call("get_database", database_text(name))
        except CallRefused as error:
            if error.is_missing:
                return False
            raise
        return True

    def table_names(self, name: DatabaseName) -> list[str]:
        """The names of all tables of a database."""
        return sorted(self.call("get_all_tables", database_text(name)))

    def table(self, name: TableName) -> UpstreamTable:
        """A table. Raises NoSuchObject if it does not exist, otherwise as `call` does."""
        request = hive_metastore.GetTableRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, capabilities=_ABLE
        )
        try:
            struct = self.call("get_table_req", request).table
        except CallRefused as error:
            if error.is_missing:
                raise NoSuchObject(str(error)) from error
            raise
        return self._table_of(struct)

    def tables(self, name: DatabaseName, tables: Sequence[str]) -> list[UpstreamTable]:
        """The named tables of a database that exist."""
        found: list[UpstreamTable] = []
        for batch in _batches(tables):
            request = hive_metastore.GetTablesRequest(
                dbName=name.database, tblNames=batch, catName=name.catalog, capabilities=_ABLE
            )
            found += map(self._table_of, self.call("get_table_objects_by_name_req", request).tables)
        return found

    def partition_names(self, name: TableName) -> list[str]:
        """The names of all partitions of a table."""
        return list(self.call("get_partition_names", database_text(name.parent), name.table, _EVERY))

    def partitions(self, name: TableName, keys: Sequence[str], names: Sequence[str]) -> dict[str, Partition]:
        """The named partitions that exist, by name; `keys` are the table's partition keys."""
        found: dict[str, Partition] = {}
        for batch in _batches(names):
            structs = self.call("get_partitions_by_names", database_text(name.parent), name.table, batch)
            found |= {partition_name(keys, each.values): each for each in partitions_from_thrift(structs)}
        return found

    def table_statistics(self, name: TableName, columns: Sequence[str], engine: str) -> dict[str, StatisticsSet]:
        """The table's own statistics of some columns, under the name ""; columns without statistics are absent."""
        request = hive_metastore.TableStatsRequest(
            dbName=name.database, tblName=name.table, colNames=list(columns), **self._origin(name, engine)
        )
        structs = self.call("get_table_statistics_req", request).tableStats
        made = _statistics_set(structs, None, engine)
        if made.columns and self.generation.is_ours:
            made = self._keep_stored(name, made)
        return {"": made} if made.columns else {}

    def partition_statistics(
        self, name: TableName, names: Sequence[str], columns: Sequence[str], engine: str
    ) -> dict[str, StatisticsSet]:
        """Partitions' statistics of some columns, by name; columns without statistics are absent."""
        found: dict[str, StatisticsSet] = {}
        for batch in _batches(names):
            request = hive_metastore.PartitionsStatsRequest(
                dbName=name.database,
                tblName=name.table,
                colNames=list(columns),
                partNames=batch,
                **self._origin(name, engine),
            )
            told: Mapping[str, Sequence[Any]] = self.call("get_partitions_statistics_req", request).partStats or {}
            found |= {each: _statistics_set(structs, each, engine) for each, structs in told.items() if structs}
        return found

    def put_statistics(self, name: TableName, statistics: Sequence[StatisticsSet]) -> None:
        """Write statistics of one engine, of the table itself or of some of its partitions."""
        for some in _split_columns(statistics):
            structs = [self.generation.struct_of(name, each) for each in some]
            request = hive_metastore.SetPartitionsStatsRequest(
                colStats=structs, needMerge=False, engine=statistics[0].engine
            )
            self.call("set_aggr_stats_for", request)

    def delete_statistics(self, name: TableName, partition: str | None, columns: Sequence[str], engine: str) -> None:
        """Delete statistics of columns, of the table itself (None) or of a partition; they may be gone already."""
        place = (database_text(name.parent), name.table)
        for column in columns:
            try:
                if partition is None:
                    self.call("delete_table_column_statistics", *place, column, engine)
                else:
                    self.call("delete_partition_column_statistics", *place, partition, column, engine)
            except CallRefused as error:
                if not error.is_missing:
                    raise

    def _table_of(self, struct: Any) -> UpstreamTable:
        upstream_id = struct.id if self.generation.is_4 and struct.id and struct.id > 0 else None
        return UpstreamTable(table_from_thrift(struct), upstream_id)

    def _keep_stored(self, name: TableName, made: StatisticsSet) -> StatisticsSet:
        """The statistics that are stored, without those that an hmstats has merged from partitions.

        Merged ones have no provenance, and are no newer statistics of the table itself.
        """
        request = extension.StatisticsRequest(dbName=name.database, tblName=name.table, catName=name.catalog)
        stored = {each.colName for each in self.call("get_provenance", request).details}
        return replace(made, columns=tuple(each for each in made.columns if each.column in stored))

    def _origin(self, name: TableName, engine: str) -> dict[str, str]:
        return {"catName": name.catalog, "engine": engine}


def ask_upstream(relay: UpstreamRelay, session: Session, method: str, *arguments: Any) -> Any:
    """The upstream's answer to a call for a session. Raises CallRefused, UpstreamUnavailable, UpstreamClosed."""
    return value_of(method, relay.answer(request_of(method, *arguments), session, WholeAnswer()))


def _statistics_set(structs: Sequence[Any] | None, partition: str | None, engine: str) -> StatisticsSet:
    """The statistics of structs, of the kinds in which they are stored here."""
    columns = tuple(column_from_thrift(each) for each in structs or ())
    fitted = tuple(replace(each, data=of_own_kind(each.data, each.column_type)) for each in columns)
    return StatisticsSet(fitted, partition, engine)


def _split_columns(statistics: Sequence[StatisticsSet]) -> Iterator[list[StatisticsSet]]:
    """Split the sets, so that none has more columns than fit in one call."""
    for start in range(0, max(len(each.columns) for each in statistics), _COLUMNS_A_CALL):
        some = [replace(each, columns=each.columns[start : start + _COLUMNS_A_CALL]) for each in statistics]
        yield [each for each in some if each.columns]


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), PARTITIONS_A_CALL):
        yield list(names[start : start + PARTITIONS_A_CALL])

"""A metastore as its clients see it: tables, partitions and their statistics, in whole sets.

Every change is idempotent. Calls about many partitions are sent in batches; each batch is stored completely or not at
all.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from hmstats import tracing
from hmstats.client.access import AccessCalls
from hmstats.client.altered_parameters import Changes, alter_context, apply_changes, expected_commit
from hmstats.client.blame import BlameCalls
from hmstats.client.connection.address import addresses
from hmstats.client.connection.batches import PARTITIONS_A_CALL, TABLES_A_CALL, batches, batches_by_columns
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import Credentials, HandedOver
from hmstats.client.connection.renewed_token import renewed_token
from hmstats.client.events import EventLog
from hmstats.client.health import HealthCalls
from hmstats.client.history import HistoryCalls
from hmstats.client.iceberg_commits import IcebergCommits
from hmstats.client.naming import AnyTable, as_table_name
from hmstats.client.pending import PendingCalls
from hmstats.client.preferences import PreferenceCalls
from hmstats.client.questions import QuestionCalls
from hmstats.client.runs import RunCalls
from hmstats.client.statistics_locks import StatisticsLockCalls
from hmstats.errors import CallRefused, StatementError, UnknownCall
from hmstats.model.catalog.names import database_text, partition_name, table_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, MANAGED_TABLE, DatabaseName, Partition, Table, TableName
from hmstats.model.parameters.computed import without_marked, without_marker
from hmstats.model.parameters.parameter_change import change_of
from hmstats.model.parameters.statistics_keys import FINGERPRINT
from hmstats.model.partitions.filtered_keys import check_filtered_keys
from hmstats.model.spark.spark_schema import data_columns
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, ColumnStatistics, StatisticsSet
from hmstats.wire.catalog.objects import partition_from_thrift, table_from_thrift
from hmstats.wire.idl import extension, hive_metastore
from hmstats.wire.statistics.column_statistics import column_from_thrift, set_to_thrift
from hmstats.wire.statistics.extension import changes_to_thrift, sets_with_details_to_thrift

if TYPE_CHECKING:
    from hmstats.client.asked.asked_table import AskedTable

_NO_TYPE = "NullPointerException"
"""The text in the error by which a Hive 4.0 says that a table has no type."""
_EVERY = -1
_MODIFIED = "The table has been modified"
_ALTER_ATTEMPTS = 10

_ABLE = hive_metastore.ClientCapabilities(values=[hive_metastore.ClientCapability.INSERT_ONLY_TABLES])
"""No rows are read, so that insert-only tables are safe too."""

_NO_FINGERPRINT: Changes = {FINGERPRINT: None}

TIMEOUT_SECONDS = 120.0
RETRIES = 3


def connect(
    uris: str,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    patience_seconds: float | None = None,
    past_locks: bool = False,
    credentials: Credentials | None = None,
    automatic: bool = False,
) -> "Metastore":
    """The metastore at `thrift://HOST:PORT`, several addresses of it separated by commas.

    Nothing is sent before the first call. `timeout_seconds` limits one answer. `retries` is how often all addresses are
    retried; `patience_seconds` is for how long they are retried instead, after timeouts too. With `past_locks`, locked
    statistics are written too. `credentials` prove the user (None: those of the environment). `automatic`: the guard
    looks at what is written. Raises SettingsError when the text is no address.
    """
    tracing.start("hmstats client")
    made = Connection(
        addresses(uris),
        timeout_seconds=timeout_seconds,
        retries=retries,
        patience_seconds=patience_seconds,
        shown=credentials,
    )
    return Metastore(made, past_locks=past_locks, automatic=automatic)


class Metastore(QuestionCalls):
    """Calls of the metastore that statistics need. A context manager; not thread-safe.

    Every method raises ServiceUnavailable if the metastore cannot be reached, and CallRefused if it answers with an
    exception.
    """

    def __init__(self, connection: Connection, *, past_locks: bool = False, automatic: bool = False) -> None:
        super().__init__(connection)
        self._past_locks = True if past_locks else None
        self._automatic = True if automatic else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def address(self) -> str:
        """The address in use, as `thrift://HOST:PORT`."""
        return str(self._connection.address)

    @property
    def events(self) -> EventLog:
        """The log of changes."""
        return EventLog(self._connection)

    @property
    def past(self) -> HistoryCalls:
        """The history of statistics, which only hmstats has."""
        return HistoryCalls(self._ask)

    @property
    def health(self) -> HealthCalls:
        """The health of statistics, which only hmstats keeps."""
        return HealthCalls(self._ask)

    @property
    def access(self) -> AccessCalls:
        """The rights of users by access rules, which only hmstats has."""
        return AccessCalls(self._ask)

    @property
    def runs(self) -> RunCalls:
        """The runs that refresh statistics, which only hmstats keeps."""
        return RunCalls(self._ask)

    @property
    def blame(self) -> BlameCalls:
        """Who is to blame for wrong estimates of queries, which only hmstats keeps."""
        return BlameCalls(self._ask)

    def close(self) -> None:
        """Close the connection; a later call connects again."""
        self._connection.close()

    @contextmanager
    def handing_over(self) -> Iterator[HandedOver]:
        """The credentials by which other processes, such as tasks of Spark, prove this user.

        A user of a Kerberos ticket gets a delegation token, which is renewed until the end and then cancelled; its
        ticket and keytab stay where they are. Else it is the token, if there is one.
        """
        proof = self._connection.credentials
        if proof.principal is None or proof.delegation_token is not None or self._connection.address.path is not None:
            yield HandedOver(proof.token, proof.delegation_token)
            return
        with renewed_token(self._connection) as token:
            yield HandedOver(delegation_token=token)

    def version(self) -> str:
        """The metastore's name and version."""
        return f"{self._connection.call('getName')} {self._connection.call('getVersion')}"

    def now_seconds(self) -> float | None:
        """The time of the metastore's clock, in epoch seconds; None if it does not tell."""
        try:
            text = self._connection.call("getOption", "now_seconds")
        except CallRefused:
            return None
        return float(text) if text else None

    def config_value(self, name: str) -> str:
        """A setting of the metastore, empty if it is unset or hidden."""
        try:
            return str(self._connection.call("get_config_value", name, "") or "")
        except CallRefused:
            return ""

    def database_locations(self) -> dict[str, str]:
        """The location of each database of the default catalog, by its name. One call for each."""
        found = (self._connection.call("get_database", name) for name in self.database_names())
        return {each.name: each.locationUri for each in found if each.locationUri}

    def find_table(self, table: AnyTable) -> Table | None:
        """The table, or None when there is none."""
        found = self._find(as_table_name(table))
        return None if found is None else table_from_thrift(found)

    def existing_table(self, table: AnyTable) -> Table:
        """The table. Raises StatementError when there is none."""
        found = self.find_table(table)
        if found is None:
            raise StatementError(f"table {as_table_name(table).typed} is not in the metastore at {self.address}")
        return found

    def table(self, table: AnyTable) -> "AskedTable":
        """A table to ask questions about. Raises StatementError when there is none."""
        found = self.existing_table(table)
        from hmstats.client.asked.asked_table import AskedTable  # noqa: PLC0415 - sketches are loaded by those who ask

        return AskedTable(self, found)

    def answered_parameters(self, table: AnyTable) -> Mapping[str, str]:
        """The parameters of a table, with the sums of rows, files and bytes that hmstats computes from partitions."""
        return dict(self._table(as_table_name(table)).parameters or {})

    @property
    def locks(self) -> StatisticsLockCalls:
        """Locks on statistics, which only hmstats has."""
        return StatisticsLockCalls(self._connection)

    @property
    def pending(self) -> PendingCalls:
        """Pending statistics, which only hmstats has."""
        return PendingCalls(self._ask)

    @property
    def preferences(self) -> PreferenceCalls:
        """Preferences of how statistics are made and kept, which only hmstats has."""
        return PreferenceCalls(self._ask)

    @property
    def iceberg(self) -> IcebergCommits:
        """Commits to Iceberg tables."""
        return IcebergCommits(self._connection)

    def catalog_names(self) -> list[str]:
        """The names of all catalogs; before Hive 3 there is one."""
        try:
            return sorted(self._connection.call("get_catalogs").names)
        except UnknownCall:
            return [DEFAULT_CATALOG]

    def database_names(self, catalog: str = DEFAULT_CATALOG) -> list[str]:
        """The names of a catalog's databases."""
        if catalog == DEFAULT_CATALOG:
            return sorted(self._connection.call("get_all_databases"))
        return sorted(self._connection.call("get_databases", database_text(DatabaseName(catalog, ""))))

    def table_names(self, database: str, catalog: str = DEFAULT_CATALOG) -> list[str]:
        """The names of a database's tables and views."""
        return sorted(self._connection.call("get_all_tables", database_text(DatabaseName(catalog, database))))

    def table_types(
        self, databases: str = "*", tables: str = "*", catalog: str = DEFAULT_CATALOG
    ) -> list[tuple[TableName, str]]:
        """The tables and views of a catalog whose names match, each with its table type.

        In both patterns `*` stands for any characters. One call, whatever the number of databases; of a Hive that has a
        table without a type, which fails at it, some for each database.
        """
        try:
            place = database_text(DatabaseName(catalog, databases))
            found = self._connection.call("get_table_meta", place, tables, None)
        except CallRefused as error:
            if _NO_TYPE not in str(error):
                raise
            return list(self._types_by_definitions(databases, tables, catalog))
        return [(table_name(each.dbName, each.tableName, catalog), each.tableType) for each in found]

    def _types_by_definitions(self, databases: str, tables: str, catalog: str) -> Iterator[tuple[TableName, str]]:
        for database in fnmatch.filter(self.database_names(catalog), databases):
            names = fnmatch.filter(self.table_names(database, catalog), tables)
            yield from ((each.name, each.table_type or MANAGED_TABLE) for each in self.tables(database, names, catalog))

    def tables(self, database: str, names: Iterable[str], catalog: str = DEFAULT_CATALOG) -> Iterator[Table]:
        """The named tables of a database, read in batches; a name without a table is skipped.

        Their parameters include the sums of rows, files and bytes that hmstats computes from partitions.
        """
        for batch in batches(names, TABLES_A_CALL):
            for struct in self._tables(DatabaseName(catalog, database), batch):
                yield replace(table_from_thrift(struct), parameters=dict(struct.parameters or {}))

    def partition_names(self, table: AnyTable, values: Sequence[str] = ()) -> list[str]:
        """The names of a table's partitions that have these values.

        `values` are those of the first keys, in the table's order; an empty one stands for every value.
        """
        name = as_table_name(table)
        if not any(values):
            return list(self._connection.call("get_partition_names", *_position(name), _EVERY))
        return list(self._connection.call("get_partition_names_ps", *_position(name), list(values), _EVERY))

    def partition_names_by_filter(self, table: Table, where: str) -> list[str]:
        """The names of a table's partitions that match a filter over the partition keys, in Hive's language.

        Raises StatementError for a filter over keys of decimals or doubles.
        """
        check_filtered_keys(table.name.typed, where, table.partition_keys)
        keys = [key.name for key in table.partition_keys]
        found = self._connection.call("get_partitions_by_filter", *_position(table.name), where, _EVERY)
        return [partition_name(keys, each.values) for each in found]

    def partitions(self, table: AnyTable, names: Iterable[str]) -> Iterator[Partition]:
        """The named partitions, read in batches; a name without a partition is skipped."""
        name = as_table_name(table)
        for batch in batches(names, PARTITIONS_A_CALL):
            yield from (partition_from_thrift(each) for each in self._partitions(name, batch))

    def accepts_spark_columns(self, table: Table) -> bool:
        """Whether the metastore accepts statistics of all data columns.

        Only hmstats knows columns that are in Spark's schema alone.
        """
        if data_columns(table) == table.columns:
            return True
        try:
            self.provenance(table.name, [])
        except UnknownCall:
            return False
        return True

    def put_table_parameters(self, table: AnyTable, parameters: Changes) -> None:
        """Set these parameters of a table; everything else stays.

        For an Iceberg table the call names the commit that was read: the metastore refuses it if there is a later one,
        and then the read and the write are retried. Hive 3.1 ignores that, and Hive 4.0 over Derby cannot do it. A
        COLUMN_STATS_ACCURATE that names no columns leaves their marks as they are.
        """
        name = as_table_name(table)
        call = "alter_table_with_environment_context"
        for attempts_left in reversed(range(_ALTER_ATTEMPTS)):
            struct = self._table(name)
            expected = expected_commit(struct.parameters or {})
            of_storage = (struct.sd and struct.sd.parameters) or {}
            unmarked = without_marked(struct.parameters or {}, of_storage)
            struct.parameters = apply_changes(unmarked, parameters)
            if of_storage:
                struct.sd.parameters = without_marker(of_storage)
            try:
                self._connection.call(call, *_position(name), struct, alter_context(parameters, expected))
            except CallRefused as error:
                if _MODIFIED in error.message and attempts_left:
                    continue
                raise
            return

    def put_partition_parameters(
        self,
        table: AnyTable,
        keys: Sequence[str],
        parameters: Mapping[str, Changes],
    ) -> set[str]:
        """Set parameters of partitions, by partition name; returns the names without a partition.

        `keys`: the table's partition keys. COLUMN_STATS_ACCURATE is as in put_table_parameters.
        """
        name = as_table_name(table)
        gone = set(parameters)
        for batch in batches(parameters, PARTITIONS_A_CALL):
            structs = self._partitions(name, batch)
            for struct in structs:
                partition = partition_name(keys, struct.values)
                changes = parameters[partition]
                struct.parameters = apply_changes(struct.parameters, changes)
                gone.discard(partition)
            call = "alter_partitions_with_environment_context"
            self._connection.call(call, *_position(name), structs, alter_context())
        return gone

    def put_together(
        self, table: AnyTable, statistics: Sequence[StatisticsSet], parameters: Mapping[str | None, Changes]
    ) -> bool:
        """Write statistics and parameters of a table (None), or of some of its partitions, in one transaction.

        Returns False, with nothing written, if the metastore is not hmstats: only hmstats has this call. Concurrent
        changes of other parameters are preserved.
        """
        name = as_table_name(table)
        if not self._extended:
            return False
        structs, details = sets_with_details_to_thrift(name, [each for each in statistics if each.columns], stamp=False)
        changes = changes_to_thrift(name, {place: change_of(each) for place, each in parameters.items()})
        request = extension.SetStatisticsRequest(
            colStats=structs,
            details=details,
            engine=DEFAULT_ENGINE,
            parameters=changes,
            force=self._past_locks,
            automatic=self._automatic,
        )
        try:
            self._connection.call("set_statistics", request)
        except UnknownCall:
            self._extended = False
        return self._extended

    def put_table_statistics(self, table: AnyTable, statistics: StatisticsSet) -> None:
        """Write column statistics of a table; those of other columns stay.

        Only hmstats stores top-k sketches and provenance.
        """
        name = as_table_name(table)
        self._put_statistics(name, [statistics])

    def put_partition_statistics(self, table: AnyTable, statistics: Iterable[StatisticsSet]) -> None:
        """Write column statistics of partitions, in batches, as put_table_statistics does."""
        name = as_table_name(table)
        for batch in batches_by_columns(statistics, columns=lambda each: len(each.columns)):
            self._put_statistics(name, batch)

    def delete_statistics(
        self, table: AnyTable, columns: Sequence[str] | None = None, partitions: Sequence[str] | None = None
    ) -> None:
        """Delete column statistics of a table itself (`partitions` None), or of these partitions.

        `columns` None: of all columns. Columns and partitions without statistics are skipped. hmstats deletes all or
        nothing; a Hive Metastore before 4.1 needs a call for each partition and column. The fingerprint of what was
        analysed goes along, by hmstats itself; a Hive Metastore needs a call for it.
        """
        name = as_table_name(table)
        if partitions is not None and not partitions:
            return  # to the metastore an empty list means every partition
        request = hive_metastore.DeleteColumnStatisticsRequest(
            cat_name=name.catalog,
            db_name=name.database,
            tbl_name=name.table,
            col_names=None if columns is None else list(columns),
            part_names=None if partitions is None else list(partitions),
            engine=DEFAULT_ENGINE,
            tableLevel=partitions is None,
        )
        try:
            self._connection.call("delete_column_statistics_req", request)
        except UnknownCall:
            self._delete_separately(name, columns, partitions)
        self._delete_fingerprints(name, partitions)

    def _delete_fingerprints(self, name: TableName, partitions: Sequence[str] | None) -> None:
        table = self.existing_table(name)
        if partitions is None:
            if FINGERPRINT in table.parameters:
                self.put_table_parameters(name, _NO_FINGERPRINT)
            return
        keys = [key.name for key in table.partition_keys]
        known = (each for each in self.partitions(name, partitions) if FINGERPRINT in each.parameters)
        self.put_partition_parameters(
            name, keys, {partition_name(keys, each.values): _NO_FINGERPRINT for each in known}
        )

    def _delete_separately(
        self, name: TableName, columns: Sequence[str] | None, partitions: Sequence[str] | None
    ) -> None:
        if columns is None:
            columns = [each.name for each in table_from_thrift(self._table(name)).columns]
        call = "delete_table_column_statistics" if partitions is None else "delete_partition_column_statistics"
        places: list[tuple[str, ...]] = [()] if partitions is None else [(each,) for each in partitions]
        for place in places:
            for column in columns:
                try:
                    self._connection.call(call, *_position(name), *place, column, DEFAULT_ENGINE)
                except CallRefused as error:
                    if not error.is_missing:
                        raise

    def table_statistics(self, table: AnyTable, columns: Sequence[str]) -> tuple[ColumnStatistics, ...]:
        """The statistics of these columns of a table, in their order; a column without any is left out."""
        name = as_table_name(table)
        request = hive_metastore.TableStatsRequest(
            dbName=name.database, tblName=name.table, colNames=list(columns), **_scope(name)
        )
        found = self._connection.call("get_table_statistics_req", request)
        return _columns_in_order(found.tableStats, columns)

    def partition_statistics(
        self, table: AnyTable, columns: Sequence[str], names: Iterable[str]
    ) -> Iterator[StatisticsSet]:
        """The statistics of these columns, in their order, of the named partitions.

        Columns and partitions without any are left out.
        """
        name = as_table_name(table)
        for batch in batches(names, PARTITIONS_A_CALL):
            request = hive_metastore.PartitionsStatsRequest(
                dbName=name.database, tblName=name.table, colNames=list(columns), partNames=batch, **_scope(name)
            )
            found = self._connection.call("get_partitions_statistics_req", request)
            for partition, structs in (found.partStats or {}).items():
                yield StatisticsSet(_columns_in_order(structs, columns), partition)

    def aggregated_statistics(
        self, table: AnyTable, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[tuple[ColumnStatistics, ...], int]:
        """The statistics of these columns over the named partitions together, and how many partitions had them all."""
        name = as_table_name(table)
        request = hive_metastore.PartitionsStatsRequest(
            dbName=name.database, tblName=name.table, colNames=list(columns), partNames=list(names), **_scope(name)
        )
        found = self._connection.call("get_aggr_stats_for", request)
        return _columns_in_order(found.colStats, columns), found.partsFound

    def written_at_seconds(
        self, table: AnyTable, columns: Sequence[str], names: Sequence[str] | None = None
    ) -> dict[str | None, int]:
        """When the statistics of some columns were last written, in epoch seconds, by partition (None: the table).

        Partitions without any are left out. A Hive Metastore is asked about each partition on its own, and about the
        first column only.
        """
        name = as_table_name(table)
        if self._extended:
            with suppress(UnknownCall):
                found = self.provenance(name, columns, names)
                return _latest((each.partition, each.provenance.written_at_seconds) for each in found)
        places: Sequence[str | None] = [None] if names is None else names
        return _latest((place, self._analyzed_at_seconds(name, columns[0], place)) for place in places)

    def _analyzed_at_seconds(self, name: TableName, column: str, partition: str | None) -> int | None:
        part = () if partition is None else (partition,)
        call = "get_table_column_statistics" if partition is None else "get_partition_column_statistics"
        try:
            found = self._connection.call(call, *_position(name), *part, column)
        except CallRefused:  # there are none, for which each generation has another exception
            return None
        seconds: int | None = found.statsDesc.lastAnalyzed
        return seconds

    def _table(self, name: TableName) -> Any:
        request = hive_metastore.GetTableRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, capabilities=_ABLE
        )
        return self._connection.call("get_table_req", request).table

    def _find(self, name: TableName) -> Any:
        """The struct of a table, None when there is none."""
        try:
            return self._table(name)
        except CallRefused as error:
            if error.is_missing:
                return None
            raise

    def _tables(self, of: DatabaseName, names: Sequence[str]) -> Sequence[Any]:
        """The structs of tables. One alone is asked for as every client does, since hmstats caches that answer."""
        if len(names) > 1:
            request = hive_metastore.GetTablesRequest(
                dbName=of.database, tblNames=names, capabilities=_ABLE, catName=of.catalog
            )
            found: Sequence[Any] = self._connection.call("get_table_objects_by_name_req", request).tables
            return found
        alone = self._find(TableName(of.catalog, of.database, names[0]))
        return [] if alone is None else [alone]

    def _partitions(self, name: TableName, names: Sequence[str]) -> list[Any]:
        return list(self._connection.call("get_partitions_by_names", *_position(name), names))

    def _put_statistics(self, name: TableName, statistics: Sequence[StatisticsSet]) -> None:
        if self._extended and self._put_extended(name, statistics):
            return
        # Timestamps are sent as longStats, which every generation reads; older ones do not know timestampStats.
        structs = [set_to_thrift(name, each, hive4=False, sketches=True, stamp=False) for each in statistics]
        request = hive_metastore.SetPartitionsStatsRequest(colStats=structs, engine=DEFAULT_ENGINE)
        self._connection.call("set_aggr_stats_for", request)

    def _put_extended(self, name: TableName, statistics: Sequence[StatisticsSet]) -> bool:
        """Whether the metastore is hmstats and has written the statistics with top-k sketches and provenance."""
        structs, details = sets_with_details_to_thrift(name, statistics, stamp=False)
        request = extension.SetStatisticsRequest(
            colStats=structs,
            details=details,
            engine=DEFAULT_ENGINE,
            force=self._past_locks,
            automatic=self._automatic,
        )
        try:
            self._connection.call("set_statistics", request)
        except UnknownCall:
            self._extended = False
        return self._extended


def _latest(times: Iterable[tuple[str | None, int | None]]) -> dict[str | None, int]:
    latest: dict[str | None, int] = {}
    for place, seconds in times:
        if seconds is not None:
            latest[place] = max(seconds, latest.get(place, seconds))
    return latest


def _columns_in_order(structs: Sequence[Any] | None, columns: Sequence[str]) -> tuple[ColumnStatistics, ...]:
    places = {column.lower(): place for place, column in enumerate(columns)}
    found = (column_from_thrift(each) for each in structs or ())
    return tuple(sorted(found, key=lambda each: places.get(each.column, len(places))))


def _scope(name: TableName) -> dict[str, str]:
    """The engine of requests, by which the client counts as one of the newest generation and gets every kind."""
    return {"catName": name.catalog, "engine": DEFAULT_ENGINE}


def _position(name: TableName) -> tuple[str, str]:
    """The first two arguments of calls about a table."""
    return database_text(name.parent), name.table

"""A metastore as its clients see it: tables, partitions and their statistics, in whole sets.

Every change gives the same when done twice. What goes to many partitions goes in batches; each batch is kept whole or
not at all.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from hmstats.client.address import addresses
from hmstats.client.batches import PARTITIONS_A_CALL, batches, batches_by_columns
from hmstats.client.connection import Connection
from hmstats.client.naming import named_table
from hmstats.client.questions import Questions
from hmstats.errors import CallRefused, StatementError, UnknownCall
from hmstats.model.catalog import Partition, Table, TableName
from hmstats.model.column_statistics import DEFAULT_ENGINE, ColumnStatistics, StatisticsSet
from hmstats.model.computed import without_computed
from hmstats.model.names import partition_name
from hmstats.wire.catalog import partition_from_thrift, table_from_thrift
from hmstats.wire.extension import sets_with_details_to_thrift
from hmstats.wire.idl import extension, hive_metastore
from hmstats.wire.statistics import column_from_thrift, set_to_thrift

if TYPE_CHECKING:
    from hmstats.client.asked_table import AskedTable

_NO_SUCH_OBJECT = "NoSuchObjectException"
_KEEP_STATISTICS = {"DO_NOT_UPDATE_STATS": "true"}
"""Without it Hive lists the table's directory and puts its own numbers over those that are written."""
_EVERY = -1

Changes = Mapping[str, str | None]
"""Parameters to set; one whose value is None is removed."""

TIMEOUT_SECONDS = 120.0
RETRIES = 3


def connect(
    uris: str,
    *,
    timeout_seconds: float = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    patience_seconds: float | None = None,
) -> "Metastore":
    """The metastore at `thrift://HOST:PORT`, several addresses of it separated by commas.

    Nothing is sent before the first call. `timeout_seconds`: how long one answer may take. `retries`: how often all
    addresses are tried again; `patience_seconds`: for how long they are instead, and late answers asked for again.
    Raises SettingsError when the text is no address.
    """
    return Metastore(
        Connection(addresses(uris), timeout_seconds=timeout_seconds, retries=retries, patience_seconds=patience_seconds)
    )


class Metastore(Questions):
    """Calls of the metastore that statistics need. A context manager; not for several threads at once.

    Every method raises ServiceUnavailable when the metastore is away, and CallRefused when it says no.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._extended = True
        """Whether the metastore may be hmstats, which keeps top-k sketches and provenance too."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def address(self) -> str:
        """The address in use, as `thrift://HOST:PORT`."""
        return str(self._connection.address)

    def close(self) -> None:
        """Close the connection; a later call connects again."""
        self._connection.close()

    def version(self) -> str:
        """What the metastore says it is: name and version."""
        return f"{self._connection.call('getName')} {self._connection.call('getVersion')}"

    def find_table(self, name: TableName) -> Table | None:
        """The table, or None when there is none."""
        try:
            return table_from_thrift(self._table(name))
        except CallRefused as error:
            if error.kind == _NO_SUCH_OBJECT:
                return None
            raise

    def table(self, text: str) -> "AskedTable":
        """A table, named as `[CATALOG.]DB.TABLE`, to ask questions about. Raises StatementError when there is none."""
        found = self.find_table(named_table(text))
        if found is None:
            raise StatementError(f"table {text} is not in the metastore at {self.address}")
        from hmstats.client.asked_table import AskedTable  # noqa: PLC0415 - sketches are loaded by those who ask

        return AskedTable(self, found)

    def database_names(self) -> list[str]:
        """The names of the databases of the default catalog."""
        return sorted(self._connection.call("get_all_databases"))

    def table_names(self, database: str) -> list[str]:
        """The names of a database's tables and views."""
        return sorted(self._connection.call("get_all_tables", database))

    def partition_names(self, name: TableName, values: Sequence[str] = ()) -> list[str]:
        """The names of a table's partitions that have these values.

        `values` are those of the first keys, in the table's order; an empty one stands for every value.
        """
        if not any(values):
            return list(self._connection.call("get_partition_names", _database(name), name.table, _EVERY))
        return list(self._connection.call("get_partition_names_ps", _database(name), name.table, list(values), _EVERY))

    def partition_names_by_filter(self, table: Table, where: str) -> list[str]:
        """The names of a table's partitions that match a filter over the partition keys, in Hive's language."""
        keys = [key.name for key in table.partition_keys]
        place = (_database(table.name), table.name.table)
        found = self._connection.call("get_partitions_by_filter", *place, where, _EVERY)
        return [partition_name(keys, each.values) for each in found]

    def partitions(self, name: TableName, names: Iterable[str]) -> Iterator[Partition]:
        """Those of the named partitions that exist, asked for in batches."""
        for batch in batches(names, PARTITIONS_A_CALL):
            yield from (partition_from_thrift(each) for each in self._partitions(name, batch))

    def put_table_parameters(self, name: TableName, parameters: Changes) -> None:
        """Set these parameters of a table; all else that it says of itself stays."""
        struct = self._table(name)
        struct.parameters = _changed(struct.parameters, parameters)
        call = "alter_table_with_environment_context"
        self._connection.call(call, _database(name), name.table, struct, _context())

    def put_partition_parameters(
        self, name: TableName, keys: Sequence[str], parameters: Mapping[str, Changes]
    ) -> set[str]:
        """Set parameters of partitions, by partition name; all else stays. The names that are no partition (any more).

        `keys`: the table's partition keys.
        """
        gone = set(parameters)
        for batch in batches(parameters, PARTITIONS_A_CALL):
            structs = self._partitions(name, batch)
            for struct in structs:
                partition = partition_name(keys, struct.values)
                struct.parameters = _changed(struct.parameters, parameters[partition])
                gone.discard(partition)
            call = "alter_partitions_with_environment_context"
            self._connection.call(call, _database(name), name.table, structs, _context())
        return gone

    def put_table_statistics(self, name: TableName, statistics: StatisticsSet) -> None:
        """Write column statistics of a table; columns that are not in the set keep theirs.

        Top-k sketches and provenance are kept by hmstats, and by no other metastore.
        """
        self._put_statistics(name, [statistics])

    def put_partition_statistics(self, name: TableName, statistics: Iterable[StatisticsSet]) -> None:
        """Write column statistics of partitions, in batches, as put_table_statistics does."""
        for batch in batches_by_columns(statistics, columns=lambda each: len(each.columns)):
            self._put_statistics(name, batch)

    def table_statistics(self, name: TableName, columns: Sequence[str]) -> tuple[ColumnStatistics, ...]:
        """The statistics of these columns of a table, in their order; a column without any is left out."""
        request = hive_metastore.TableStatsRequest(
            dbName=name.database, tblName=name.table, colNames=list(columns), **_origin(name)
        )
        found = self._connection.call("get_table_statistics_req", request)
        return _ordered(found.tableStats, columns)

    def partition_statistics(
        self, name: TableName, columns: Sequence[str], names: Iterable[str]
    ) -> Iterator[StatisticsSet]:
        """The statistics of these columns, in their order, of the named partitions; what has none is left out."""
        for batch in batches(names, PARTITIONS_A_CALL):
            request = hive_metastore.PartitionsStatsRequest(
                dbName=name.database, tblName=name.table, colNames=list(columns), partNames=batch, **_origin(name)
            )
            found = self._connection.call("get_partitions_statistics_req", request)
            for partition, structs in (found.partStats or {}).items():
                yield StatisticsSet(_ordered(structs, columns), partition)

    def aggregated_statistics(
        self, name: TableName, columns: Sequence[str], names: Sequence[str]
    ) -> tuple[tuple[ColumnStatistics, ...], int]:
        """The statistics of these columns over the named partitions together, and how many partitions had them all."""
        request = hive_metastore.PartitionsStatsRequest(
            dbName=name.database, tblName=name.table, colNames=list(columns), partNames=list(names), **_origin(name)
        )
        found = self._connection.call("get_aggr_stats_for", request)
        return _ordered(found.colStats, columns), found.partsFound

    def written_at_seconds(
        self, name: TableName, columns: Sequence[str], names: Sequence[str] | None = None
    ) -> dict[str | None, int]:
        """When the statistics of some columns were written last, as epoch time: of each of these partitions that has
        any, or of the table itself (None).

        A Hive Metastore is asked about each partition on its own, and about the first column only.
        """
        if self._extended:
            try:
                found = self.provenance(name, columns, names)
            except UnknownCall:
                self._extended = False
            else:
                return _latest((each.partition, each.provenance.written_at_seconds) for each in found)
        places: Sequence[str | None] = [None] if names is None else names
        return _latest((place, self._analyzed_at_seconds(name, columns[0], place)) for place in places)

    def _analyzed_at_seconds(self, name: TableName, column: str, partition: str | None) -> int | None:
        place, part = (_database(name), name.table), () if partition is None else (partition,)
        call = "get_table_column_statistics" if partition is None else "get_partition_column_statistics"
        try:
            found = self._connection.call(call, *place, *part, column)
        except CallRefused:  # there are none, which each generation says in a way of its own
            return None
        seconds: int | None = found.statsDesc.lastAnalyzed
        return seconds

    def _table(self, name: TableName) -> Any:
        # Statistics are read, no rows: those of insert-only tables do no harm.
        able = hive_metastore.ClientCapabilities(values=[hive_metastore.ClientCapability.INSERT_ONLY_TABLES])
        request = hive_metastore.GetTableRequest(
            dbName=name.database, tblName=name.table, catName=name.catalog, capabilities=able
        )
        return self._connection.call("get_table_req", request).table

    def _partitions(self, name: TableName, names: Sequence[str]) -> list[Any]:
        return list(self._connection.call("get_partitions_by_names", _database(name), name.table, names))

    def _put_statistics(self, name: TableName, statistics: Sequence[StatisticsSet]) -> None:
        if self._extended and self._put_extended(name, statistics):
            return
        # Timestamps go as longStats: every generation reads them, and older ones know no timestampStats.
        structs = [set_to_thrift(name, each, hive4=False, sketches=True, stamp=False) for each in statistics]
        request = hive_metastore.SetPartitionsStatsRequest(colStats=structs, engine=DEFAULT_ENGINE)
        self._connection.call("set_aggr_stats_for", request)

    def _put_extended(self, name: TableName, statistics: Sequence[StatisticsSet]) -> bool:
        """Whether the metastore is hmstats and has written the statistics with all that is kept beside them."""
        structs, details = sets_with_details_to_thrift(name, statistics, stamp=False)
        request = extension.SetStatisticsRequest(colStats=structs, details=details, engine=DEFAULT_ENGINE)
        try:
            self._connection.call("set_statistics", request)
        except UnknownCall:
            self._extended = False
        return self._extended


def _changed(parameters: Mapping[str, str] | None, changes: Changes) -> dict[str, str]:
    both = {**without_computed(parameters or {}), **changes}
    return {name: value for name, value in both.items() if value is not None}


def _latest(times: Iterable[tuple[str | None, int | None]]) -> dict[str | None, int]:
    latest: dict[str | None, int] = {}
    for place, seconds in times:
        if seconds is not None:
            latest[place] = max(seconds, latest.get(place, seconds))
    return latest


def _ordered(structs: Sequence[Any] | None, columns: Sequence[str]) -> tuple[ColumnStatistics, ...]:
    places = {column.lower(): place for place, column in enumerate(columns)}
    found = (column_from_thrift(each) for each in structs or ())
    return tuple(sorted(found, key=lambda each: places.get(each.column, len(places))))


def _context() -> Any:
    return hive_metastore.EnvironmentContext(properties=dict(_KEEP_STATISTICS))


def _origin(name: TableName) -> dict[str, str]:
    """Who asks: a reader of the newest generation, which statistics of every kind reach."""
    return {"catName": name.catalog, "engine": DEFAULT_ENGINE}


def _database(name: TableName) -> str:
    """The database as a positional argument has it; catalogs are unknown before Hive 3, so the default is left out."""
    return name.database if name.catalog == "hive" else f"@{name.catalog}#{name.database}"

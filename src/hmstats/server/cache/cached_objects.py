"""Answers to new requests for statistics, assembled from cached statistics of single columns.

Missing columns are read in one statement together with the table's version, and are used only if that is the version of
the cached ones: an answer is one snapshot of the database, no older than its request. If a request is unusual or fails,
the result is None: the call itself then decodes it, with all rules and errors.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hmstats.errors import MetastoreError
from hmstats.model.catalog.names import normal_partition_name, table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE
from hmstats.server.cache.cached_answers import CachedAnswer
from hmstats.server.cache.cached_tables import CachedTable, Entry, Form, Row, TableCache
from hmstats.service.statistics.reading.read import StatisticsReader, VersionedStatistics
from hmstats.store.changes.versions import note_read
from hmstats.wire.statistics import statistics_bytes, statistics_groups, statistics_requests
from hmstats.wire.statistics.column_statistics import reads_timestamp_statistics
from hmstats.wire.statistics.statistics_requests import StatisticsRequest

QuickCall = Callable[[bytes, int], bytes | None]
"""Makes the encoded result of a whole request whose arguments begin at a byte; None leaves it to the call."""

ReadyCall = Callable[[bytes, int], CachedAnswer | None]
"""Makes the cached result of a whole request, fast and without the database; None if something is not cached."""

_LONG_BYTES = 32 * 1024
"""The longest request that the selector's thread answers itself; a longer one would delay other clients."""
_TRIES = 3
"""Reads that concurrent writes may spoil before the call reads everything in one transaction."""
_OF_TABLE = ""
"""The key of the table's own statistics in place of a partition's name."""


class _Query(NamedTuple):
    """A request for statistics of columns: the table, the form of the answer, and the columns as they are stored."""

    table: TableName
    form: Form
    columns: tuple[str, ...]


class CachedObjects:
    """Answers requests for statistics from the cache of columns. `sketches` is whether answers contain sketches."""

    def __init__(self, reader: StatisticsReader, tables: TableCache, *, sketches: bool) -> None:
        self._reader = reader
        self._tables = tables
        self._sketches = sketches

    def calls(self) -> dict[str, QuickCall]:
        """The functions that answer from the cache and the database, by method."""
        return {
            "get_partitions_statistics_req": self.partitions_statistics,
            "get_table_statistics_req": self.table_statistics,
        }

    def ready(self) -> dict[str, ReadyCall]:
        """The functions that answer from cached rows alone, by method."""
        return {"get_partitions_statistics_req": self.ready_partitions_statistics}

    def ready_partitions_statistics(self, message: bytes, body_at: int) -> CachedAnswer | None:
        """The result of get_partitions_statistics_req, if the rows of all partitions are cached; else None.

        Safe in the selector's thread: nothing is read from the database, and long requests return None.
        """
        if self._tables.is_empty or len(message) > _LONG_BYTES:
            return None
        request = statistics_requests.of_partitions(message, body_at)
        query = _query_of(request, itself=False)
        table = None if query is None else self._tables.find(query.table)
        if request is None or query is None or table is None or not _are_different(request.partitions):
            return None
        version, entries = self._tables.find_entries(table, query.form, request.partitions)
        rows, columns = [each.row if each else None for each in entries], table.shared_columns(query.columns)
        encoded = [row.encoded for row in rows if row is not None and row.columns is columns]
        if len(encoded) < len(entries):
            return None
        result = statistics_bytes.joined_result([each for each in encoded if each])
        return CachedAnswer({table.id: version}, {table.id: frozenset(request.partitions)}, result)

    def partitions_statistics(self, message: bytes, body_at: int) -> bytes | None:
        """The result of get_partitions_statistics_req."""
        request = statistics_requests.of_partitions(message, body_at)
        query = _query_of(request, itself=False)
        if request is None or query is None or not _are_different(request.partitions):
            return None
        for _ in range(_TRIES):
            table = self._open_table(query.table)
            if table is None:
                return None
            version, entries = self._tables.find_entries(table, query.form, request.partitions)
            columns = table.shared_columns(query.columns)
            result = _join(entries, columns)
            if result is None:
                missing = [
                    name
                    for name, each in zip(request.partitions, entries, strict=True)
                    if not _has_columns(each, query)
                ]
                read = self._read_partitions(query, table, missing)
                if read is None:
                    return None
                if read[0] != version:
                    continue
                self._tables.put(table, version, query.form, read[1])
                completed = [read[1].get(name, old) for name, old in zip(request.partitions, entries, strict=True)]
                result = _join(completed, columns)
            note_read(table.id, version, request.partitions)
            return result
        return None

    def table_statistics(self, message: bytes, body_at: int) -> bytes | None:
        """The result of get_table_statistics_req; None if the table has none, so that partitions may answer."""
        query = _query_of(statistics_requests.of_table(message, body_at), itself=True)
        entry = None if query is None else self._table_entry(query)
        if query is None or entry is None:
            return None
        objects = [entry.objects[column] for column in query.columns]
        return statistics_bytes.table_result(objects) if all(objects) else None

    def _table_entry(self, query: _Query) -> Entry | None:
        """The cached or stored statistics of the table itself; notes its version."""
        table = self._tables.find_current(query.table)
        if table is not None:
            version, (entry,) = self._tables.find_entries(table, query.form, [_OF_TABLE])
            if entry is not None and _has_columns(entry, query):
                note_read(table.id, version, ())
                return entry
        stored = self._reader.versioned_table(
            query.table, query.columns, query.form.engine, repaired=not query.form.hive4
        )
        if stored is None:
            return None
        entry = self._entries([_OF_TABLE], stored, query)[_OF_TABLE]
        if table is None or table.id != stored.table_id:
            table = self._tables.open(query.table, stored.table_id, stored.version)
        self._tables.put(table, stored.version, query.form, {_OF_TABLE: entry})
        return entry

    def _open_table(self, name: TableName) -> CachedTable | None:
        table = self._tables.find_current(name)
        if table is not None and table.target is not None:
            return table
        target = self._reader.target(name)
        return None if target is None else self._tables.open(name, target.id, target.version, target)

    def _read_partitions(
        self, query: _Query, table: CachedTable, names: Sequence[str]
    ) -> tuple[int, dict[str, Entry]] | None:
        """The version and the stored statistics of these partitions; None if a name is not in stored form."""
        if table.target is None or not _are_normal(names, table.target.keys):
            return None
        stored = self._reader.versioned_partitions(
            query.table,
            table.target,
            names,
            query.columns,
            query.form.engine,
            repaired=not query.form.hive4,
        )
        if stored is None:
            return None
        return stored.version, self._entries(names, stored, query)

    def _entries(self, names: Sequence[str], stored: VersionedStatistics, query: _Query) -> dict[str, Entry]:
        hive4 = query.form.hive4 and reads_timestamp_statistics(query.form.engine)
        no_objects = dict.fromkeys(query.columns, b"")
        objects = {name: no_objects.copy() for name in names}
        for name, columns in stored.columns.items():
            encoded = statistics_bytes.objects(columns, hive4=hive4, sketches=self._sketches)
            objects[name].update(zip((column[0] for column in columns), encoded, strict=True))
        for group in stored.groups:
            for name, encoded_object in zip(
                group.partitions, statistics_groups.objects(group, hive4=hive4), strict=True
            ):
                objects[name][group.column] = encoded_object
        return {name: Entry(statistics_bytes.partition_key(name), of_one) for name, of_one in objects.items()}


def _query_of(request: StatisticsRequest | None, *, itself: bool) -> _Query | None:
    """The question with names as they are stored; None if the request is unusual."""
    if request is None or not request.columns or not _are_different(request.columns):
        return None
    try:
        table = table_name(request.database, request.table, request.catalog)
    except MetastoreError:
        return None
    form = Form(request.engine or DEFAULT_ENGINE, request.engine is not None, itself)
    return _Query(table, form, tuple([column.lower() for column in request.columns]))


def _are_different(names: Sequence[str]) -> bool:
    return len(set(map(str.lower, names))) == len(names)


def _are_normal(names: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the names are written exactly as partitions are stored."""
    try:
        return all(normal_partition_name(name, keys) == name for name in names)
    except MetastoreError:
        return False


def _has_columns(entry: Entry | None, query: _Query) -> bool:
    return entry is not None and all(column in entry.objects for column in query.columns)


def _join(entries: Sequence[Entry | None], columns: tuple[str, ...]) -> bytes | None:
    """The result for these columns, without partitions that have none; None if an entry is incomplete."""
    rows: list[bytes] = []
    for entry in entries:
        if entry is None:
            return None
        row = entry.row
        if row is None or row.columns is not columns:
            row = entry.row = _row(entry, columns)
            if row is None:
                return None
        if row.encoded:
            rows.append(row.encoded)
    return statistics_bytes.joined_result(rows)


def _row(entry: Entry, columns: tuple[str, ...]) -> Row | None:
    """An entry's row of these columns; None if one of them is not cached."""
    try:
        objects = [entry.objects[column] for column in columns]
    except KeyError:
        return None
    count = len(objects) - objects.count(b"")
    head = (entry.key, statistics_bytes.objects_head(count))
    return Row(columns, b"".join((*head, *objects)) if count else b"")

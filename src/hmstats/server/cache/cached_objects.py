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
from hmstats.wire.statistics.statistics_requests import Asked

QuickCall = Callable[[bytes, int], bytes | None]
"""Makes the encoded result of a whole request whose arguments begin at a byte; None leaves it to the call."""

ReadyCall = Callable[[bytes, int], CachedAnswer | None]
"""Makes the cached result of a whole request, fast and without the database; None if something is not cached."""

_LONG_BYTES = 32 * 1024
"""The longest request that the selector's thread answers itself; a longer one would delay other clients."""
_TRIES = 3
"""Reads that concurrent writes may spoil before the call reads everything in one transaction."""
_ITSELF = ""
"""The key of the table's own statistics in place of a partition's name."""


class _Question(NamedTuple):
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
        if self._tables.empty or len(message) > _LONG_BYTES:
            return None
        asked = statistics_requests.of_partitions(message, body_at)
        question = _question(asked, itself=False)
        table = None if question is None else self._tables.look(question.table)
        if asked is None or question is None or table is None or not _are_different(asked.partitions):
            return None
        version, held = self._tables.held(table, question.form, asked.partitions)
        rows, columns = [each.row if each else None for each in held], table.same(question.columns)
        encoded = [row.encoded for row in rows if row is not None and row.columns is columns]
        if len(encoded) < len(held):
            return None
        result = statistics_bytes.joined_result([each for each in encoded if each])
        return CachedAnswer({table.id: version}, {table.id: frozenset(asked.partitions)}, result)

    def partitions_statistics(self, message: bytes, body_at: int) -> bytes | None:
        """The result of get_partitions_statistics_req."""
        asked = statistics_requests.of_partitions(message, body_at)
        question = _question(asked, itself=False)
        if asked is None or question is None or not _are_different(asked.partitions):
            return None
        for _ in range(_TRIES):
            table = self._opened(question.table)
            if table is None:
                return None
            version, held = self._tables.held(table, question.form, asked.partitions)
            columns = table.same(question.columns)
            result = _joined(held, columns)
            if result is None:
                missing = [name for name, each in zip(asked.partitions, held, strict=True) if not _has(each, question)]
                found = self._found(question, table, missing)
                if found is None:
                    return None
                if found[0] != version:
                    continue
                self._tables.put(table, version, question.form, found[1])
                whole = [found[1].get(name, old) for name, old in zip(asked.partitions, held, strict=True)]
                result = _joined(whole, columns)
            note_read(table.id, version, asked.partitions)
            return result
        return None

    def table_statistics(self, message: bytes, body_at: int) -> bytes | None:
        """The result of get_table_statistics_req; None if the table has none, so that partitions may answer."""
        question = _question(statistics_requests.of_table(message, body_at), itself=True)
        entry = None if question is None else self._of_table(question)
        if question is None or entry is None:
            return None
        objects = [entry.objects[column] for column in question.columns]
        return statistics_bytes.table_result(objects) if all(objects) else None

    def _of_table(self, question: _Question) -> Entry | None:
        """The cached or stored statistics of the table itself; notes its version."""
        table = self._tables.find(question.table)
        if table is not None:
            version, (entry,) = self._tables.held(table, question.form, [_ITSELF])
            if entry is not None and _has(entry, question):
                note_read(table.id, version, ())
                return entry
        found = self._reader.versioned_table(
            question.table, question.columns, question.form.engine, repaired=not question.form.hive4
        )
        if found is None:
            return None
        entry = self._entries([_ITSELF], found, question)[_ITSELF]
        if table is None or table.id != found.table_id:
            table = self._tables.open(question.table, found.table_id, found.version)
        self._tables.put(table, found.version, question.form, {_ITSELF: entry})
        return entry

    def _opened(self, name: TableName) -> CachedTable | None:
        table = self._tables.find(name)
        if table is not None and table.target is not None:
            return table
        target = self._reader.target(name)
        return None if target is None else self._tables.open(name, target.id, target.version, target)

    def _found(
        self, question: _Question, table: CachedTable, names: Sequence[str]
    ) -> tuple[int, dict[str, Entry]] | None:
        """The version and the stored statistics of these partitions; None if a name is not in stored form."""
        if table.target is None or not _are_normal(names, table.target.keys):
            return None
        found = self._reader.versioned_partitions(
            question.table,
            table.target,
            names,
            question.columns,
            question.form.engine,
            repaired=not question.form.hive4,
        )
        if found is None:
            return None
        return found.version, self._entries(names, found, question)

    def _entries(self, names: Sequence[str], found: VersionedStatistics, question: _Question) -> dict[str, Entry]:
        hive4 = question.form.hive4 and reads_timestamp_statistics(question.form.engine)
        none = dict.fromkeys(question.columns, b"")
        objects = {name: none.copy() for name in names}
        for name, columns in found.columns.items():
            encoded = statistics_bytes.objects(columns, hive4=hive4, sketches=self._sketches)
            objects[name].update(zip((column[0] for column in columns), encoded, strict=True))
        for group in found.groups:
            for name, one in zip(group.partitions, statistics_groups.objects(group, hive4=hive4), strict=True):
                objects[name][group.column] = one
        return {name: Entry(statistics_bytes.partition_key(name), of_one) for name, of_one in objects.items()}


def _question(asked: Asked | None, *, itself: bool) -> _Question | None:
    """The question with names as they are stored; None if the request is unusual."""
    if asked is None or not asked.columns or not _are_different(asked.columns):
        return None
    try:
        table = table_name(asked.database, asked.table, asked.catalog)
    except MetastoreError:
        return None
    form = Form(asked.engine or DEFAULT_ENGINE, asked.engine is not None, itself)
    return _Question(table, form, tuple([column.lower() for column in asked.columns]))


def _are_different(names: Sequence[str]) -> bool:
    return len(set(map(str.lower, names))) == len(names)


def _are_normal(names: Sequence[str], keys: Sequence[str]) -> bool:
    """Whether the names are written exactly as partitions are stored."""
    try:
        return all(normal_partition_name(name, keys) == name for name in names)
    except MetastoreError:
        return False


def _has(entry: Entry | None, question: _Question) -> bool:
    return entry is not None and all(column in entry.objects for column in question.columns)


def _joined(entries: Sequence[Entry | None], columns: tuple[str, ...]) -> bytes | None:
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

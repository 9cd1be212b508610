"""Statistics from one metastore to another, or to a file and back: hmstats and Hive Metastores alike."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from time import time

from hmstats.client.connection.batches import batches_by_columns
from hmstats.client.metastore import Metastore
from hmstats.client.naming import named_pattern
from hmstats.client.sending import push
from hmstats.client.sending.dropped_writes import dropped, dropping_lock, dropping_locks
from hmstats.client.sending.parcel import Item, Parcel
from hmstats.client.tables.existing import check_database, every_database, tables_in
from hmstats.client.tables.stored_statistics import StoredStatistics, own_statistics, stored_partitions
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import VIRTUAL_VIEW, DatabaseName, Table
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.statistics.statistics_locks import StatisticsLock
from hmstats.outlets.export.rows import Entry

_COUNTS = ("numRows", "rawDataSize", "totalSize", "numFiles", PARAMETER)
"""The parameters that are copied with statistics."""
_EVERY = "*"


@dataclass
class TransferResult:
    """The number of tables and partitions that got their statistics, and those left out, with the reason."""

    accepted: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def entries(service: Metastore, tables: Sequence[str] = ()) -> Iterator[Entry]:
    """All statistics of these tables (`[CATALOG.]DB.TABLE` or `DB.*`; none: all tables), partition by partition.

    Raises StatementError for a table that is not there.
    """
    for table in _tables(service, tables):
        yield from _entries_of(own_statistics(service, table))
        if table.partition_keys:
            for each in stored_partitions(service, table, service.partition_names(table.name)):
                yield from _entries_of(each)


def put(service: Metastore, found: Iterable[Entry]) -> TransferResult:
    """Write the entries. Those of missing tables and partitions, and refused ones, are skipped."""
    moved = TransferResult()
    for name, group in groupby(found, key=lambda entry: entry.name):
        table = service.find_table(name)
        if table is None:
            moved.left_out[name.typed] = "there is no such table"
            continue
        free = _unlocked(group, dropping_locks(service, name), moved)
        for batch in batches_by_columns(free, columns=lambda entry: len(entry.statistics.columns)):
            _put(service, table, batch, moved)
    return moved


def _unlocked(found: Iterable[Entry], locks: Sequence[StatisticsLock], moved: TransferResult) -> Iterator[Entry]:
    """The entries of a table without what locks would drop, which is noted as left out."""
    for entry in found:
        left: Entry | None = entry
        while left and (lock := dropping_lock(locks, entry.statistics.partition, _columns(left))):
            place = " ".join(filter(None, (entry.name.typed, entry.statistics.partition)))
            moved.left_out[place] = dropped(lock)
            left = _without(left, lock.object.columns)
        if left:
            yield left


def _columns(entry: Entry) -> list[str]:
    return [each.column for each in entry.statistics.columns]


def _without(entry: Entry, columns: Sequence[str]) -> Entry | None:
    """The entry without these columns; None without any, which stands for all of it."""
    kept = tuple(each for each in entry.statistics.columns if each.column not in columns)
    return replace(entry, statistics=replace(entry.statistics, columns=kept)) if columns else None


def _put(service: Metastore, table: Table, batch: Sequence[Entry], moved: TransferResult) -> None:
    own = [each for each in batch if each.statistics.partition is None]
    parts = {each.statistics.partition: each for each in batch if each.statistics.partition is not None}
    keys = [key.name for key in table.partition_keys]
    there = {partition_name(keys, each.values) for each in service.partitions(table.name, parts)} if keys else set()
    for name in parts.keys() - there:
        moved.left_out[f"{table.name.typed} {name}"] = "there is no such partition"
    some = [each for name, each in parts.items() if name in there]
    for written in (own, some):
        if written:
            items = tuple(Item(each.statistics, each.parameters) for each in written)
            refused = push.put(service, Parcel(table.name, tuple(keys), items, int(time())))
            moved.accepted += len(written) - len(refused)
            moved.left_out |= {
                f"{table.name.typed} {place}" if place else table.name.typed: sentence
                for place, sentence in refused.items()
            }


def _entries_of(found: StoredStatistics) -> Iterator[Entry]:
    """The entry of stored statistics; none if there are neither statistics nor counts."""
    counts = {name: found.parameters[name] for name in _COUNTS if name in found.parameters}
    if counts or found.statistics.columns:
        yield Entry(found.table.name, counts, found.statistics)


def _tables(service: Metastore, texts: Sequence[str]) -> Iterator[Table]:
    if not texts:
        for each in every_database(service):
            yield from _tables_but_views(service, each)
    for name in map(named_pattern, texts):
        if name.table == _EVERY:
            yield from _tables_but_views(service, name.parent)
        else:
            yield service.existing_table(name)


def _tables_but_views(service: Metastore, of: DatabaseName) -> Iterator[Table]:
    for name in tables_in(service, of):
        found = service.find_table(name)
        if found is not None and found.table_type != VIRTUAL_VIEW:
            yield found


def check_patterns(texts: Sequence[str]) -> None:
    """Raise StatementError for a text that names no table of a database."""
    for text in texts:
        named_pattern(text)


def check_present(service: Metastore, texts: Sequence[str]) -> None:
    """Raise StatementError for a table or a database that is missing, before anything is written."""
    for name in map(named_pattern, texts):
        check_database(service, name.parent)
        if name.table != _EVERY:
            service.existing_table(name)

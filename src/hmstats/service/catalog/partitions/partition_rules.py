"""Shared rules of the calls about partitions: their table, their names, creation and replacement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog.location import below, is_same_location, parse, qualify
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import (
    LAST_DDL,
    Column,
    KeyedTable,
    Parameters,
    Partition,
    Storage,
    Table,
    TableName,
    is_view,
)
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.parameters.basic_statistics import FileSizes, StatisticsSource, same_sizes
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.service.catalog.tables.basic_statistics import of_altered_partition, recounts_partitions
from hmstats.service.catalog.tables.columns import kept_parameters, lost_columns, without_orders
from hmstats.service.catalog.tables.locked_statistics import with_locked_values
from hmstats.service.lookups import id_of
from hmstats.service.statistics.spark.spark_statements import with_spark_counts as spark_stated
from hmstats.store.partitions import partitions
from hmstats.store.statistics import column_statistics, statistics_locks
from hmstats.store.unit.unit import Unit


def missing_partition(name: TableName, values: Sequence[str]) -> NoSuchObject:
    """The error for a missing partition."""
    return NoSuchObject(f"partition values={list(values)} of table {name} not found")


def keys_of(table: Table | KeyedTable) -> list[str]:
    """The names of the partition keys."""
    return [key.name for key in table.partition_keys]


def partitions_by_name(table: Table, given: Sequence[Partition]) -> dict[str, Partition]:
    """The partitions by name. Raises MetaError if values do not fit the keys or a partition occurs twice."""
    keys = keys_of(table)
    named: dict[str, Partition] = {}
    for partition in given:
        name = partition_name(keys, partition.values)
        if name in named:
            raise MetaError(f"Duplicate partitions in the list: {name} of table {table.name}")
        named[name] = partition
    return named


def with_defaults(table: Table, name: str, partition: Partition, now_seconds: int) -> Partition:
    """A new partition with its location and times.

    A partition of a view has no location, and needs no storage. Raises MetaError if another has no storage, or if its
    location is not absolute.
    """
    parameters = {LAST_DDL: str(now_seconds), **without_orders(partition.parameters)}
    storage = partition.storage
    if storage is None and not is_view(table):
        raise MetaError(f"partition {name} of table {table.name} must have a storage descriptor, found none")
    if storage is not None:
        storage = replace(storage, location=_location(table, name, storage))
    return replace(partition, storage=storage, parameters=parameters, created_seconds=now_seconds)


def _location(table: Table, name: str, storage: Storage) -> str | None:
    if not storage.location:
        return default_location(table, name)
    if is_view(table):
        raise MetaError(f"Cannot specify location for a view partition, found {storage.location}")
    if not parse(storage.location).is_absolute:
        raise MetaError(f"the location of partition {name} must be an absolute path, found {storage.location}")
    return qualify(storage.location)


def default_location(table: Table, name: str) -> str | None:
    """The location of a partition that names none; None in a view."""
    parent = table.storage.location if table.storage else None
    return below(parent, name) if parent else None


def location_of(partition: Partition) -> str | None:
    """The location of a partition; None in a view."""
    return partition.storage.location if partition.storage else None


def lies_at_default(table: Table, name: str, partition: Partition) -> bool:
    """Whether a partition lies at the default location of its name."""
    return partition.storage is not None and is_same_location(partition.storage.location, default_location(table, name))


@dataclass(frozen=True, slots=True)
class FileCounts:
    """File counts of partitions by location, and the source of the statistics that the writer sent."""

    source: StatisticsSource = StatisticsSource.UNSAID
    sizes: Mapping[str, FileSizes] = field(default_factory=dict)


def replace_all(
    unit: Unit, table: Table, stored: Mapping[str, Partition], changed: Mapping[str, Partition], counted: FileCounts
) -> dict[str, Partition]:
    """Replace stored partitions, by name. Statistics of columns that are dropped or change their type are deleted."""
    replaced: dict[str, Partition] = {}
    locks = statistics_locks.of_table(unit, id_of(table))
    losers: dict[tuple[str, ...], list[int]] = {}
    for name, partition in changed.items():
        old = stored[name]
        new = replace(partition, id=old.id, storage=_storage(table, old, partition))
        lost = tuple(lost_columns(_columns(old, table), _columns(new, table)))
        losers.setdefault(lost, []).append(id_of(old))
        parameters = kept_parameters(old.parameters, partition.parameters, lost)
        if recounts_partitions(table) or same_sizes(old.parameters, partition.parameters):
            parameters = _altered_parameters(old, new, parameters, counted)
        parameters = with_locked_values(unit, locks, id_of(old), old.parameters, parameters)
        replaced[name] = replace(new, parameters={LAST_DDL: str(unit.now_seconds), **parameters})
    for lost, partition_ids in losers.items():
        if lost:
            column_statistics.delete_partitions(unit, partition_ids, lost, None)
    before, after = ({id_of(each[name]): each[name] for name in replaced} for each in (stored, replaced))
    partitions.replace_many(unit, id_of(table), table.columns, before, after)
    return replaced


def _altered_parameters(old: Partition, new: Partition, parameters: Parameters, counted: FileCounts) -> dict[str, str]:
    """The parameters of an altered partition, with the files counted and Spark's statistics applied.

    If Spark states another row count than the stored one, nothing is marked accurate: the columns' statistics are of
    other rows.
    """
    sizes = counted.sizes.get(location_of(new) or "")
    settled = parameters
    if counted.source is not StatisticsSource.AS_GIVEN:
        settled = of_altered_partition(old.parameters, new.parameters, parameters, counted.source, sizes)
    stated = spark_stated(old.parameters, settled)
    if stated.get(NUM_ROWS) != settled.get(NUM_ROWS):
        stated.pop(PARAMETER, None)
    return stated


def _storage(table: Table, old: Partition, new: Partition) -> Storage | None:
    """The new storage; unset columns are the table's, an unset location is the old one."""
    if new.storage is None or old.storage is None:
        return new.storage or old.storage
    location = qualify(new.storage.location) if new.storage.location else old.storage.location
    return replace(new.storage, columns=new.storage.columns or table.columns, location=location)


def _columns(partition: Partition, table: Table) -> Sequence[Column]:
    return partition.storage.columns if partition.storage else table.columns

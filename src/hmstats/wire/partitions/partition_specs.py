"""PartitionSpec structs: many partitions of a table in one, as a list or with one storage descriptor.

A shared storage has a common location, and each partition a relative path below it, which is appended unchanged, as in
Hive.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Partition, Storage, Table
from hmstats.wire.catalog.objects import partition_to_thrift, storage_to_thrift
from hmstats.wire.idl import hive_metastore
from hmstats.wire.partitions.partition_fields import EVERY_FIELD, PartitionFields


def partitions_from_specs(specs: Sequence[Any]) -> list[Any]:
    """The Partition structs in PartitionSpec structs.

    If a spec has a list and a shared storage, the list is used. Raises MetaError if it has neither.
    """
    return [struct for spec in specs for struct in _partitions(spec)]


def _partitions(spec: Any) -> Iterable[Any]:
    if spec is None:
        raise MetaError("PartitionSpec cannot be null.")
    if spec.partitionList is not None:
        if spec.partitionList.partitions is None:
            raise MetaError("the list of a PartitionSpec must have partitions, found none")
        return list(spec.partitionList.partitions)
    if spec.sharedSDPartitionSpec is None or spec.sharedSDPartitionSpec.partitions is None:
        raise MetaError("a PartitionSpec must have a list of partitions or a shared storage, found neither")
    return [_with_storage(spec, each) for each in spec.sharedSDPartitionSpec.partitions]


def _with_storage(spec: Any, struct: Any) -> Any:
    shared = spec.sharedSDPartitionSpec.sd
    if shared is None or shared.location is None or struct is None:
        raise MetaError("partitions that share a storage must have its location, found none")
    values = {field[1]: getattr(shared, field[1]) for field in shared.thrift_spec.values()}
    storage = hive_metastore.StorageDescriptor(**values | {"location": f"{shared.location}{struct.relativePath or ''}"})
    return hive_metastore.Partition(
        values=struct.values,
        dbName=spec.dbName,
        tableName=spec.tableName,
        catName=spec.catName,
        createTime=struct.createTime,
        lastAccessTime=struct.lastAccessTime,
        sd=storage,
        parameters=struct.parameters,
    )


def list_spec(table: Table, partitions: Iterable[Partition], fields: PartitionFields = EVERY_FIELD) -> Any:
    """One PartitionSpec that lists the partitions."""
    structs = [fields.partition(partition_to_thrift(table.name, each)) for each in partitions]
    return hive_metastore.PartitionSpec(
        **_of(table), partitionList=hive_metastore.PartitionListComposingSpec(partitions=structs)
    )


def grouped_specs(table: Table, partitions: Iterable[Partition], fields: PartitionFields = EVERY_FIELD) -> list[Any]:
    """Specs of partitions that share a storage except for the location, then a list of those outside of the table.

    Only requested fields count: without the location no partition is outside, and other unrequested fields of a storage
    separate no groups.
    """
    root, placed = _root(table), fields.includes("sd", "location")
    descriptors: dict[str, Any] = {}
    groups: dict[str, list[Partition]] = {}
    outside: list[Partition] = []
    for each in partitions:
        if placed and not _location(each).startswith(f"{root}/"):
            outside.append(each)
            continue
        storage = repr(_without_location(each.storage))
        if storage not in descriptors:
            descriptors[storage] = _shared_storage(each.storage, root if placed else None, fields)
        groups.setdefault(repr(descriptors[storage]), []).append(each)
    shared = {repr(each): each for each in descriptors.values()}
    specs = [_shared_spec(table, shared[wanted], group, fields) for wanted, group in groups.items()]
    return [*specs, list_spec(table, outside, fields)] if outside else specs


def _shared_storage(storage: Storage | None, root: str | None, fields: PartitionFields) -> Any:
    empty = hive_metastore.StorageDescriptor()
    struct = fields.storage(empty if storage is None else storage_to_thrift(storage))
    struct.location = root
    return struct


def _shared_spec(table: Table, descriptor: Any, group: Sequence[Partition], fields: PartitionFields) -> Any:
    root = _root(table)
    placed, valued = fields.includes("sd", "location"), fields.includes("values")
    created, accessed = fields.includes("createTime"), fields.includes("lastAccessTime")
    structs = [
        hive_metastore.PartitionWithoutSD(
            values=list(each.values) if valued else None,
            createTime=each.created_seconds if created else 0,
            lastAccessTime=each.last_access_seconds if accessed else 0,
            relativePath=_location(each)[len(root) :] if placed else None,
            parameters=fields.parameters(each.parameters),
        )
        for each in group
    ]
    shared = hive_metastore.PartitionSpecWithSharedSD(partitions=structs, sd=descriptor)
    return hive_metastore.PartitionSpec(**_of(table), sharedSDPartitionSpec=shared)


def _of(table: Table) -> dict[str, Any]:
    name = table.name
    return {
        "dbName": name.database,
        "tableName": name.table,
        "catName": name.catalog,
        "rootPath": _root(table) or None,
    }


def _root(table: Table) -> str:
    return (table.storage.location if table.storage else None) or ""


def _location(partition: Partition) -> str:
    return (partition.storage.location if partition.storage else None) or ""


def _without_location(storage: Storage | None) -> Storage | None:
    return storage and replace(storage, location=None)

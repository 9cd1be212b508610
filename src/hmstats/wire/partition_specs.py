"""PartitionSpec structs: many partitions of a table in one, as a list or with one storage descriptor.

A shared storage has the partitions' common place, below which each has its own; relative paths are put behind it as
they are, as Hive does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from hmstats.errors import MetaError
from hmstats.model.catalog import Partition, Storage, Table
from hmstats.wire.catalog import partition_to_thrift, storage_to_thrift
from hmstats.wire.idl import hive_metastore


def partitions_from_specs(specs: Sequence[Any]) -> list[Any]:
    """The Partition structs in PartitionSpec structs. Raises MetaError where there is neither list nor shared storage.

    A list goes before a shared storage when a spec has both.
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


def list_spec(table: Table, partitions: Iterable[Partition]) -> Any:
    """One PartitionSpec that lists the partitions."""
    structs = [partition_to_thrift(table.name, each) for each in partitions]
    return hive_metastore.PartitionSpec(
        **_of(table), partitionList=hive_metastore.PartitionListComposingSpec(partitions=structs)
    )


def grouped_specs(table: Table, partitions: Iterable[Partition]) -> list[Any]:
    """Specs of partitions that share all of a storage but the place, then one that lists those outside the table."""
    root = _root(table)
    inside: dict[str, list[tuple[Storage, Partition]]] = {}
    outside: list[Partition] = []
    for each in partitions:
        storage = each.storage
        if storage and storage.location and storage.location.startswith(f"{root}/"):
            inside.setdefault(repr(_without_place(storage)), []).append((storage, each))
        else:
            outside.append(each)
    specs = [_shared_spec(table, group) for group in inside.values()]
    return [*specs, list_spec(table, outside)] if outside else specs


def _shared_spec(table: Table, group: Sequence[tuple[Storage, Partition]]) -> Any:
    root = _root(table)
    descriptor = storage_to_thrift(group[0][0])
    descriptor.location = root
    structs = [
        hive_metastore.PartitionWithoutSD(
            values=list(partition.values),
            createTime=partition.created_seconds,
            lastAccessTime=partition.last_access_seconds,
            relativePath=(storage.location or "")[len(root) :],
            parameters=dict(partition.parameters),
        )
        for storage, partition in group
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


def _without_place(storage: Storage) -> Storage:
    return replace(storage, location=None)

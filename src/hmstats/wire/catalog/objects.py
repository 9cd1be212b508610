"""Catalog objects: Thrift structs <-> model, both directions side by side.

In: null lists, maps and texts become empty or None. Out: lists and maps are never null, since readers do not check.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hmstats.errors import InvalidObject, MetaError
from hmstats.model.catalog.names import database_name, table_name
from hmstats.model.catalog.objects import (
    Catalog,
    Column,
    Creation,
    Database,
    Partition,
    SerDe,
    SkewedInfo,
    SortColumn,
    SourceTable,
    Storage,
    Table,
    TableName,
    TableSummary,
)
from hmstats.model.parameters.computed import without_marked, without_marker
from hmstats.model.parameters.shared_parameters import SharedParameters
from hmstats.wire.idl import hive_metastore
from hmstats.wire.principals import principal_number, principal_type

_EMPTY_AT_FIRST = "setStatsStateForCreateTable"
_TYPES = hive_metastore.DatabaseType


def catalog_from_thrift(struct: Any) -> Catalog:
    """The catalog in a struct. Raises InvalidObject when there is none."""
    if struct is None:
        raise InvalidObject("a catalog was expected, found none")
    return Catalog(
        (struct.name or "").lower(),
        struct.locationUri or "",
        struct.description,
        parameters=None if struct.parameters is None else _parameters(struct.parameters),
    )


def catalog_to_thrift(catalog: Catalog) -> Any:
    """The Catalog struct."""
    return hive_metastore.Catalog(
        name=catalog.name,
        description=catalog.description,
        locationUri=catalog.location,
        createTime=catalog.created_seconds,
        parameters=dict(catalog.parameters or {}),
    )


def database_from_thrift(struct: Any) -> Database:
    """The database in a struct. Raises InvalidObject when it has no name."""
    if not struct.name:
        raise InvalidObject("a database must have a name, found none")
    return Database(
        name=database_name(struct.name, struct.catalogName),
        description=struct.description,
        location=struct.locationUri or "",
        managed_location=struct.managedLocationUri or None,
        parameters=_parameters(struct.parameters),
        owner=struct.ownerName,
        owner_type=principal_type(struct.ownerType),
        created_seconds=struct.createTime,
        remote=struct.type == _TYPES.REMOTE,
        connector=struct.connector_name,
        remote_name=struct.remote_dbname,
    )


def database_to_thrift(database: Database) -> Any:
    """The Database struct; the fields of remote databases are unset for others."""
    return hive_metastore.Database(
        name=database.name.database,
        description=database.description,
        locationUri=database.location,
        parameters=dict(database.parameters),
        ownerName=database.owner,
        ownerType=principal_number(database.owner_type),
        catalogName=database.name.catalog,
        createTime=database.created_seconds,
        managedLocationUri=database.managed_location,
        type=_TYPES.REMOTE if database.remote else _TYPES.NATIVE,
        connector_name=database.connector if database.remote else None,
        remote_dbname=database.remote_name if database.remote else None,
    )


def empty_columns(struct: Any) -> tuple[str, ...] | None:
    """The columns that the creator of an empty table declares as accurately analysed; None if it declares nothing.

    Hive 4 sends it in the table's dictionary, as JSON.
    """
    values = struct.dictionary.values if struct.dictionary else None
    found = (values or {}).get(_EMPTY_AT_FIRST) or ()
    try:
        wishes = [json.loads(each) for each in found[:1]]
        columns = [wish.get("columnNames") or () for wish in wishes if wish.get("enabled") is True]
        return tuple(map(str, columns[0])) if columns else None
    except (ValueError, AttributeError, TypeError) as error:
        raise MetaError(f"{_EMPTY_AT_FIRST} of table {struct.tableName} must be JSON, found {found}") from error


def table_from_thrift(struct: Any) -> Table:
    """The table in a struct. Raises MetaError when it, its database or a column has no name, or there is no column."""
    if struct.tableName is None or not struct.dbName:
        raise MetaError(f"a table must have a name and a database, found {struct.dbName}.{struct.tableName}")
    if struct.sd is not None and struct.sd.cols is None:
        raise MetaError(f"the columns of table {struct.dbName}.{struct.tableName} must be a list, found none")
    return Table(
        name=table_name(struct.dbName, struct.tableName, struct.catName),
        owner=struct.owner,
        owner_type=principal_type(struct.ownerType),
        created_seconds=struct.createTime or 0,
        last_access_seconds=struct.lastAccessTime or 0,
        retention=struct.retention or 0,
        storage=None if struct.sd is None else storage_from_thrift(struct.sd),
        partition_keys=columns_from_thrift(struct.partitionKeys),
        parameters=without_marked(_parameters(struct.parameters), _parameters(struct.sd and struct.sd.parameters)),
        view_original_text=struct.viewOriginalText,
        view_expanded_text=struct.viewExpandedText,
        table_type=struct.tableType,
        rewrite_enabled=bool(struct.rewriteEnabled),
        write_id=max(struct.writeId or 0, 0),
        creation=struct.creationMetadata and creation_from_thrift(struct.creationMetadata, struct.catName),
    )


def table_to_thrift(table: Table) -> Any:
    """The Table struct."""
    return hive_metastore.Table(
        tableName=table.name.table,
        dbName=table.name.database,
        owner=table.owner,
        createTime=table.created_seconds,
        lastAccessTime=table.last_access_seconds,
        retention=table.retention,
        sd=None if table.storage is None else storage_to_thrift(table.storage),
        partitionKeys=columns_to_thrift(table.partition_keys),
        parameters=dict(table.parameters),
        viewOriginalText=table.view_original_text,
        viewExpandedText=table.view_expanded_text,
        tableType=table.table_type,
        temporary=None,
        rewriteEnabled=table.rewrite_enabled,
        catName=table.name.catalog,
        ownerType=principal_number(table.owner_type),
        writeId=table.write_id,
        id=table.id,
        creationMetadata=None if table.creation is None else _creation_to_thrift(table.name, table.creation),
    )


def creation_from_thrift(struct: Any, catalog: str | None = None) -> Creation:
    """The model's Creation from a CreationMetadata struct.

    The sources are `sourceTables`, or if unset `tablesUsed`, whose items are `database.table`. Raises MetaError for one
    without a name.
    """
    catalog = struct.catName or catalog
    if struct.sourceTables is None:
        sources = [SourceTable(_used_name(each, catalog)) for each in sorted(struct.tablesUsed or ())]
    else:
        sources = [_source_from_thrift(each, catalog) for each in struct.sourceTables]
    return Creation(sources=tuple(sources), transactions=struct.validTxnList)


def _used_name(text: str, catalog: str | None) -> TableName:
    database, _, table = text.partition(".")
    if not database or not table:
        raise MetaError(f"a table used by a materialized view must be named database.table, found {text}")
    return table_name(database, table, catalog)


def _source_from_thrift(struct: Any, catalog: str | None) -> SourceTable:
    table = struct.table
    if table is None or not table.dbName or not table.tableName:
        raise MetaError("a source table of a materialized view must have a name and a database")
    name = table_name(table.dbName, table.tableName, catalog)
    return SourceTable(name, struct.insertedCount or 0, struct.updatedCount or 0, struct.deletedCount or 0)


def _creation_to_thrift(view: TableName, creation: Creation) -> Any:
    return hive_metastore.CreationMetadata(
        catName=view.catalog,
        dbName=view.database,
        tblName=view.table,
        tablesUsed={each.name.short for each in creation.sources},
        validTxnList=creation.transactions,
        materializationTime=creation.materialized_ms,
        sourceTables=[
            hive_metastore.SourceTable(
                table=table_to_thrift(each.table),
                insertedCount=each.inserted,
                updatedCount=each.updated,
                deletedCount=each.deleted,
            )
            for each in creation.sources
            if each.table is not None
        ],
    )


def summary_to_thrift(summary: TableSummary) -> Any:
    """The TableMeta struct."""
    return hive_metastore.TableMeta(
        dbName=summary.name.database,
        tableName=summary.name.table,
        tableType=summary.table_type,
        comments=summary.comment,
        catName=summary.name.catalog,
        ownerName=summary.owner,
        ownerType=principal_number(summary.owner_type),
    )


def partitions_from_thrift(structs: Iterable[Any]) -> list[Partition]:
    """The partitions in structs, as partition_from_thrift reads each; what is equal in them shares one object."""
    shared = _Shared()
    return [partition_from_thrift(each, shared) for each in structs]


class _Shared:
    """Objects that partitions of one call share: equal lists of columns, and a serde that equals the previous one."""

    def __init__(self) -> None:
        self._columns: dict[Any, tuple[Column, ...]] = {}
        self._serde = SerDe()
        self.of_partition, self.of_storage = SharedParameters(), SharedParameters()

    def columns(self, fields: Sequence[Any] | None) -> tuple[Column, ...]:
        """The columns in FieldSchema structs; the same object for equal lists."""
        key = tuple((each.name, each.type, each.comment) for each in fields or ())
        if key not in self._columns:
            self._columns[key] = columns_from_thrift(fields)
        return self._columns[key]

    def serde(self, struct: Any) -> SerDe:
        """The serde in a SerDeInfo struct; the same object if it equals the previous one."""
        read = _serde_from_thrift(struct)
        if read != self._serde:
            self._serde = read
        return self._serde


def partition_from_thrift(struct: Any, shared: _Shared | None = None) -> Partition:
    """The partition in a struct, without the table's name. Raises InvalidObject when a value is missing.

    `shared`: what other partitions of the call have too.
    """
    shared = shared or _Shared()
    values = struct.values or []
    if any(value is None for value in values):
        raise InvalidObject(f"every value of a partition must be a text, found {values}")
    return Partition(
        values=tuple(values),
        created_seconds=struct.createTime or 0,
        last_access_seconds=struct.lastAccessTime or 0,
        storage=None if struct.sd is None else storage_from_thrift(struct.sd, shared),
        parameters=shared.of_partition(_parameters(struct.parameters)),
        write_id=max(struct.writeId or 0, 0),
    )


def partition_to_thrift(name: TableName, partition: Partition) -> Any:
    """The Partition struct of a partition of the named table."""
    return hive_metastore.Partition(
        values=list(partition.values),
        dbName=name.database,
        tableName=name.table,
        createTime=partition.created_seconds,
        lastAccessTime=partition.last_access_seconds,
        sd=None if partition.storage is None else storage_to_thrift(partition.storage),
        parameters=dict(partition.parameters),
        catName=name.catalog,
        writeId=partition.write_id,
    )


def storage_from_thrift(struct: Any, shared: _Shared | None = None) -> Storage:
    """The storage in a StorageDescriptor struct. Raises MetaError without a serde, or when a column has no name."""
    if struct.serdeInfo is None:
        raise MetaError(f"a storage descriptor must have a serde, found none for location {struct.location}")
    shared = shared or _Shared()
    return Storage(
        columns=shared.columns(struct.cols),
        location=struct.location,
        input_format=struct.inputFormat,
        output_format=struct.outputFormat,
        compressed=bool(struct.compressed),
        buckets=struct.numBuckets or 0,
        serde=shared.serde(struct.serdeInfo),
        bucket_columns=tuple(struct.bucketCols or ()),
        sort_columns=tuple(SortColumn(each.col, each.order or 0) for each in struct.sortCols or ()),
        parameters=shared.of_storage(without_marker(_parameters(struct.parameters))),
        skewed=None if struct.skewedInfo is None else _skewed_from_thrift(struct.skewedInfo),
        stored_as_subdirectories=bool(struct.storedAsSubDirectories),
    )


def storage_to_thrift(storage: Storage) -> Any:
    """The StorageDescriptor struct."""
    return hive_metastore.StorageDescriptor(
        cols=columns_to_thrift(storage.columns),
        location=storage.location,
        inputFormat=storage.input_format,
        outputFormat=storage.output_format,
        compressed=storage.compressed,
        numBuckets=storage.buckets,
        serdeInfo=_serde_to_thrift(storage.serde),
        bucketCols=list(storage.bucket_columns),
        sortCols=[hive_metastore.Order(col=each.column, order=each.order) for each in storage.sort_columns],
        parameters=dict(storage.parameters),
        skewedInfo=_skewed_to_thrift(storage.skewed or SkewedInfo()),
        storedAsSubDirectories=storage.stored_as_subdirectories,
    )


def _serde_from_thrift(struct: Any) -> SerDe:
    return SerDe(
        name=struct.name,
        library=struct.serializationLib,
        parameters=_parameters(struct.parameters),
        description=struct.description,
        serializer_class=struct.serializerClass,
        deserializer_class=struct.deserializerClass,
        serde_type=struct.serdeType,
    )


def _serde_to_thrift(serde: SerDe) -> Any:
    return hive_metastore.SerDeInfo(
        name=serde.name,
        serializationLib=serde.library,
        parameters=dict(serde.parameters),
        description=serde.description,
        serializerClass=serde.serializer_class,
        deserializerClass=serde.deserializer_class,
        serdeType=serde.serde_type,
    )


def _skewed_from_thrift(struct: Any) -> SkewedInfo:
    locations: Mapping[Any, str] = struct.skewedColValueLocationMaps or {}
    return SkewedInfo(
        columns=tuple(struct.skewedColNames or ()),
        values=tuple(tuple(each) for each in struct.skewedColValues or ()),
        locations={tuple(values): location for values, location in locations.items()},
    )


def _skewed_to_thrift(skewed: SkewedInfo) -> Any:
    return hive_metastore.SkewedInfo(
        skewedColNames=list(skewed.columns),
        skewedColValues=[list(each) for each in skewed.values],
        skewedColValueLocationMaps=dict(skewed.locations),
    )


def columns_from_thrift(structs: Sequence[Any] | None) -> tuple[Column, ...]:
    """The columns in FieldSchema structs, their names in lower case as Hive stores them; null is none.

    Raises MetaError or InvalidObject for one without a name.
    """
    return tuple(_column_from_thrift(each) for each in structs or ())


def _column_from_thrift(struct: Any) -> Column:
    if not isinstance(struct.name, str) or not isinstance(struct.type, str):
        raise MetaError(f"a column must have a name and a type, found {struct.name} {struct.type}")
    return Column(struct.name.lower(), struct.type, struct.comment)


def columns_to_thrift(columns: Sequence[Column]) -> list[Any]:
    """The FieldSchema structs of some columns."""
    return [hive_metastore.FieldSchema(name=each.name, type=each.type, comment=each.comment) for each in columns]


def _parameters(parameters: Mapping[str, str] | None) -> dict[str, str]:
    return dict(parameters) if parameters else {}

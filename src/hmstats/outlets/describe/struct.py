"""A table or a partition on one line, as DESCRIBE EXTENDED shows it: the text that Java's Thrift gives a struct."""

from collections.abc import Iterable, Mapping

from hmstats.model.catalog.objects import Column, Partition, SerDe, SkewedInfo, Storage, Table, TableName

_FIRST = ("numPartitions", "numFiles", "numRows", "totalSize")
"""Hive's own order is that of a hash map; these are what people look for."""


def table_text(table: Table, parameters: Mapping[str, str]) -> str:
    """The table, with these parameters in place of its own."""
    fields = {
        "tableName": table.name.table,
        "dbName": table.name.database,
        "owner": table.owner,
        "createTime": table.created_seconds,
        "lastAccessTime": table.last_access_seconds,
        "retention": table.retention,
        "sd": _storage(table.storage),
        "partitionKeys": _columns(table.partition_keys),
        "parameters": _map(parameters),
        "viewOriginalText": table.view_original_text,
        "viewExpandedText": table.view_expanded_text,
        "tableType": table.table_type,
        "rewriteEnabled": _flag(table.rewrite_enabled),
        "catName": table.name.catalog,
        "ownerType": table.owner_type,
    }
    return _struct("Table", fields)


def partition_text(name: TableName, partition: Partition) -> str:
    """The partition of the table with this name."""
    fields = {
        "values": _list(partition.values),
        "dbName": name.database,
        "tableName": name.table,
        "createTime": partition.created_seconds,
        "lastAccessTime": partition.last_access_seconds,
        "sd": _storage(partition.storage),
        "parameters": _map(partition.parameters),
        "catName": name.catalog,
    }
    return _struct("Partition", fields)


def _storage(storage: Storage | None) -> str | None:
    if storage is None:
        return None
    orders = (_struct("Order", {"col": each.column, "order": each.order}) for each in storage.sort_columns)
    fields = {
        "cols": _columns(storage.columns),
        "location": storage.location,
        "inputFormat": storage.input_format,
        "outputFormat": storage.output_format,
        "compressed": _flag(storage.compressed),
        "numBuckets": storage.buckets,
        "serdeInfo": _serde(storage.serde),
        "bucketCols": _list(storage.bucket_columns),
        "sortCols": _list(orders),
        "parameters": _map(storage.parameters),
        "skewedInfo": _skewed_text(storage.skewed or SkewedInfo()),
        "storedAsSubDirectories": _flag(storage.stored_as_subdirectories),
    }
    return _struct("StorageDescriptor", fields)


def _serde(serde: SerDe) -> str:
    fields = {"name": serde.name, "serializationLib": serde.library, "parameters": _map(serde.parameters)}
    return _struct("SerDeInfo", fields)


def _skewed_text(skewed: SkewedInfo) -> str:
    fields = {
        "skewedColNames": _list(skewed.columns),
        "skewedColValues": _list(map(_list, skewed.values)),
        "skewedColValueLocationMaps": _map({_list(values): place for values, place in skewed.locations.items()}),
    }
    return _struct("SkewedInfo", fields)


def _columns(columns: Iterable[Column]) -> str:
    return _list(_struct("FieldSchema", {"name": c.name, "type": c.type, "comment": c.comment}) for c in columns)


def _struct(name: str, fields: Mapping[str, object]) -> str:
    values = (f"{field}:{'null' if value is None else value}" for field, value in fields.items())
    return f"{name}({', '.join(values)})"


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"


def _map(values: Mapping[str, str]) -> str:
    places = {name: place for place, name in enumerate(_FIRST)}
    ordered = sorted(values, key=lambda name: (places.get(name, len(places)), name))
    return "{" + ", ".join(f"{name}={values[name]}" for name in ordered) + "}"


def _flag(value: object) -> str:
    return str(value).lower()

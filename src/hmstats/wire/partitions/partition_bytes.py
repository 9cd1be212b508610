"""Partitions straight from the model to the bytes of an answer, equal to those of wire/catalog/objects.py.

An answer can hold thousands of partitions that differ in values, locations and parameters only. The rest of a storage
descriptor is encoded once for all partitions that share it. Format: thrift/doc/specs/thrift-binary-protocol.md of
Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

from hmstats.model.catalog.objects import Column, Partition, SerDe, SkewedInfo, Storage, TableName

_BOOL, _I32, _I64, _STRING, _STRUCT, _MAP, _LIST = 2, 8, 10, 11, 12, 13, 15
_STOP = b"\0"

_field = struct.Struct(">bh").pack
_elements = struct.Struct(">bi").pack
_entries = struct.Struct(">bbi").pack
_size = struct.Struct(">i").pack
_flag = struct.Struct(">bhb").pack
_integer = struct.Struct(">bhi").pack
_long = struct.Struct(">bhq").pack
_two_integers = struct.Struct(">bhibhi").pack


def listed_result(name: TableName, partitions: Iterable[Partition]) -> bytes:
    """The result of a call that answers a list of partitions of the named table."""
    return _field(_LIST, 0) + _partitions(name, partitions) + _STOP


def wrapped_result(name: TableName, partitions: Iterable[Partition]) -> bytes:
    """The result of a call that answers a struct whose first field is the list of partitions."""
    return _field(_STRUCT, 0) + _field(_LIST, 1) + _partitions(name, partitions) + _STOP + _STOP


def _partitions(name: TableName, partitions: Iterable[Partition]) -> bytes:
    table = _text(2, name.database) + _text(3, name.table)
    catalog = _text(9, name.catalog)
    storages = _Storages()
    encoded = [_partition(each, table, catalog, storages) for each in partitions]
    return _elements(_STRUCT, len(encoded)) + b"".join(encoded)


def _partition(partition: Partition, table: bytes, catalog: bytes, storages: "_Storages") -> bytes:
    times = _two_integers(_I32, 4, partition.created_seconds, _I32, 5, partition.last_access_seconds)
    storage = b"" if partition.storage is None else _field(_STRUCT, 6) + storages.encode(partition.storage)
    return b"".join(
        (
            _texts(1, partition.values),
            table,
            times,
            storage,
            _parameters(7, partition.parameters),
            catalog,
            _long(_I64, 10, partition.write_id),
            _STOP,
        )
    )


class _Storages:
    """Encodes the storage descriptors of one answer; caches the bytes before and after the location."""

    def __init__(self) -> None:
        self._columns: dict[int, tuple[tuple[Column, ...], bytes]] = {}
        self._formats: dict[tuple[object, ...], bytes] = {}

    def encode(self, storage: Storage) -> bytes:
        """The StorageDescriptor struct."""
        columns = self._columns.get(id(storage.columns))
        if columns is None:
            columns = self._columns[id(storage.columns)] = (storage.columns, _columns(storage.columns))
        key = format_key(storage)
        rest = self._formats.get(key)
        if rest is None:
            rest = self._formats[key] = _format(storage)
        return columns[1] + _text(2, storage.location) + rest


def format_key(storage: Storage) -> tuple[object, ...]:
    """The cache key of a storage's format: everything but its columns and location."""
    serde, skewed = storage.serde, storage.skewed
    return (
        storage.input_format,
        storage.output_format,
        storage.compressed,
        storage.buckets,
        storage.bucket_columns,
        storage.sort_columns,
        tuple(storage.parameters.items()),
        storage.stored_as_subdirectories,
        (serde.name, serde.library, serde.description, serde.serializer_class, serde.deserializer_class),
        (serde.serde_type, *serde.parameters.items()),
        skewed and (skewed.columns, skewed.values, tuple(skewed.locations.items())),
    )


def _format(storage: Storage) -> bytes:
    """The bytes of a StorageDescriptor after its location."""
    orders = [_text(1, each.column) + _integer(_I32, 2, each.order) + _STOP for each in storage.sort_columns]
    return b"".join(
        (
            _text(3, storage.input_format),
            _text(4, storage.output_format),
            _flag(_BOOL, 5, storage.compressed),
            _integer(_I32, 6, storage.buckets),
            _field(_STRUCT, 7) + _serde(storage.serde),
            _texts(8, storage.bucket_columns),
            _field(_LIST, 9) + _elements(_STRUCT, len(orders)) + b"".join(orders),
            _parameters(10, storage.parameters),
            _field(_STRUCT, 11) + _skewed(storage.skewed or SkewedInfo()),
            _flag(_BOOL, 12, storage.stored_as_subdirectories),
            _STOP,
        )
    )


def _columns(columns: Sequence[Column]) -> bytes:
    encoded = [_text(1, each.name) + _text(2, each.type) + _text(3, each.comment) + _STOP for each in columns]
    return _field(_LIST, 1) + _elements(_STRUCT, len(encoded)) + b"".join(encoded)


def _serde(serde: SerDe) -> bytes:
    return b"".join(
        (
            _text(1, serde.name),
            _text(2, serde.library),
            _parameters(3, serde.parameters),
            _text(4, serde.description),
            _text(5, serde.serializer_class),
            _text(6, serde.deserializer_class),
            b"" if serde.serde_type is None else _integer(_I32, 7, serde.serde_type),
            _STOP,
        )
    )


def _skewed(skewed: SkewedInfo) -> bytes:
    values = b"".join(map(_text_list, skewed.values))
    locations = b"".join(_text_list(each) + _string(place) for each, place in skewed.locations.items())
    return b"".join(
        (
            _texts(1, skewed.columns),
            _field(_LIST, 2) + _elements(_LIST, len(skewed.values)) + values,
            _field(_MAP, 3) + _entries(_LIST, _STRING, len(skewed.locations)) + locations,
            _STOP,
        )
    )


def _texts(number: int, texts: Sequence[str]) -> bytes:
    return _field(_LIST, number) + _text_list(texts)


def _text_list(texts: Sequence[str]) -> bytes:
    return _elements(_STRING, len(texts)) + b"".join(map(_string, texts))


def _parameters(number: int, parameters: Mapping[str, str]) -> bytes:
    pairs = b"".join(_string(text) for pair in parameters.items() for text in pair)
    return _field(_MAP, number) + _entries(_STRING, _STRING, len(parameters)) + pairs


def _text(number: int, text: str | None) -> bytes:
    return b"" if text is None else _field(_STRING, number) + _string(text)


def _string(text: str) -> bytes:
    content = text.encode()
    return _size(len(content)) + content

"""Partitions straight from the model to the bytes of an answer, equal to those of wire/catalog/objects.py.

An answer can hold thousands of partitions that differ in values, locations and parameters only. The rest of a storage
descriptor is encoded once for all partitions that have the same object for it. Format:
thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Mapping, Sequence

from hmstats.model.catalog.objects import Column, SerDe, SkewedInfo, Storage, TableName
from hmstats.model.partitions.partitions_by_name import PartitionsByColumn

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


def listed_result(name: TableName, partitions: PartitionsByColumn) -> bytes:
    """The result of a call that answers a list of partitions of the named table."""
    return _field(_LIST, 0) + _partitions(name, partitions) + _STOP


def wrapped_result(name: TableName, partitions: PartitionsByColumn) -> bytes:
    """The result of a call that answers a struct whose first field is the list of partitions."""
    return _field(_STRUCT, 0) + _field(_LIST, 1) + _partitions(name, partitions) + _STOP + _STOP


def found_result(name: TableName, partitions: PartitionsByColumn, *, unknown: bool) -> bytes:
    """The result of a call that answers a PartitionsByExprResult."""
    return (
        _field(_STRUCT, 0) + _field(_LIST, 1) + _partitions(name, partitions) + _flag(_BOOL, 2, unknown) + _STOP + _STOP
    )


def _partitions(name: TableName, partitions: PartitionsByColumn) -> bytes:
    table = _text(2, name.database) + _text(3, name.table)
    catalog = _text(9, name.catalog)
    distinct = {id(each): each for each in partitions.formats}
    formats = {number: _parts_of_format(each) for number, each in distinct.items()}
    pieces = [_elements(_STRUCT, len(partitions.names))]
    for values, created, accessed, form, location, parameters, write_id in zip(
        partitions.values,
        partitions.created_seconds,
        partitions.last_access_seconds,
        partitions.formats,
        partitions.locations,
        partitions.parameters,
        partitions.write_ids,
        strict=True,
    ):
        columns, rest = formats[id(form)]
        pieces += (
            _texts(1, values),
            table,
            _two_integers(_I32, 4, created, _I32, 5, accessed),
            columns,
            _text(2, location),
            rest,
            _parameters(7, parameters),
            catalog,
            _long(_I64, 10, write_id),
            _STOP,
        )
    return b"".join(pieces)


def _parts_of_format(form: Storage | None) -> tuple[bytes, bytes]:
    """The bytes of a storage in a partition, before its location and after it."""
    if form is None:
        return b"", b""
    return _field(_STRUCT, 6) + _columns(form.columns), _format(form)


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

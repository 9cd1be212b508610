"""Partitions straight from the model to the bytes of an answer, equal to those of wire/catalog/objects.py.

An answer can hold thousands of partitions that differ in values, locations and parameters only. The rest of a storage
descriptor is encoded once for all partitions that have the same object for it. Format:
thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import itertools
import struct
from collections.abc import Mapping, Sequence
from itertools import chain

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
_last_long = struct.Struct(">bhqB").pack
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
    distinct = {id(each): each for each in partitions.formats}
    parts = {number: _parts_of_format(each) for number, each in distinct.items()}
    formats = [parts[id(each)] for each in partitions.formats]
    times = zip(partitions.created_seconds, partitions.last_access_seconds, strict=True)
    fields = zip(
        _value_fields(partitions.values),
        itertools.repeat(_text(2, name.database) + _text(3, name.table)),
        [_two_integers(_I32, 4, created, _I32, 5, accessed) for created, accessed in times],
        [columns for columns, _ in formats],
        [_text(2, location) for location in partitions.locations],
        [rest for _, rest in formats],
        _parameter_fields(partitions.parameters),
        itertools.repeat(_text(9, name.catalog)),
        [_last_long(_I64, 10, write_id, 0) for write_id in partitions.write_ids],
        strict=False,
    )
    return b"".join((_elements(_STRUCT, len(partitions.names)), *chain.from_iterable(fields)))


def _value_fields(values: Sequence[Sequence[str]]) -> list[bytes]:
    """The first field of each partition."""
    heads = {size: _field(_LIST, 1) + _elements(_STRING, size) for size in set(map(len, values))}
    strings = map(_string, chain.from_iterable(values))
    return [b"".join((heads[len(each)], *itertools.islice(strings, len(each)))) for each in values]


def _parameter_fields(parameters: Sequence[Mapping[str, str]]) -> list[bytes]:
    """The parameters of each partition, most of whose texts are those of the others."""
    heads = {size: _field(_MAP, 7) + _entries(_STRING, _STRING, size) for size in set(map(len, parameters))}
    texts = [list(chain.from_iterable(each.items())) for each in parameters]
    strings = {text: _string(text) for text in set(chain.from_iterable(texts))}
    return [
        heads[len(each)] + b"".join([strings[text] for text in listed])
        for each, listed in zip(parameters, texts, strict=True)
    ]


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

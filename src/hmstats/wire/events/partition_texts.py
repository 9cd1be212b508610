"""Partitions as text of Thrift's JSON protocol, for messages that hold thousands of them.

Most of them differ only in values, locations and parameters, so the rest of a storage descriptor is written once.
"""

from dataclasses import replace

from hmstats.model.catalog.objects import Partition, Storage, TableName
from hmstats.wire.catalog.objects import partition_to_thrift, storage_to_thrift
from hmstats.wire.events.json_protocol import struct_to_json, text_to_json

_PLACE = "\0place\0"
"""A placeholder for the location, which no stored text contains."""
_PARAMETERS = '"7":{"map":'
"""The beginning of the field after the storage. Inside of a text the quotation marks would be escaped."""


class PartitionTexts:
    """Texts of partitions of one table."""

    def __init__(self, table: TableName) -> None:
        self._table = table
        self._storages: dict[tuple[object, ...], tuple[Storage, str, str]] = {}

    def text(self, partition: Partition) -> str:
        """The text of the Partition struct."""
        if partition.storage is None or partition.storage.location is None:
            return struct_to_json(partition_to_thrift(self._table, partition))
        bare = struct_to_json(partition_to_thrift(self._table, replace(partition, storage=None)))
        before, parameters, after = bare.partition(_PARAMETERS)
        return f'{before}"6":{{"rec":{self._storage(partition.storage)}}},{parameters}{after}'

    def _storage(self, storage: Storage) -> str:
        key = (id(storage.columns), *_format_key(storage))
        known = self._storages.get(key)
        if known is None:
            text = struct_to_json(storage_to_thrift(replace(storage, location=_PLACE)))
            before, _, after = text.partition(text_to_json(_PLACE))
            # The entry refers to the columns, so that no other list gets their id(), which is a part of the key.
            known = self._storages[key] = storage, before, after
        return f"{known[1]}{text_to_json(storage.location or '')}{known[2]}"


def _format_key(storage: Storage) -> tuple[object, ...]:
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

"""Partitions as text of Thrift's JSON protocol, for messages that hold thousands of them.

Mostly they differ in their values, places and parameters only: the rest of a storage descriptor is written once.
"""

from dataclasses import replace

from hmstats.model.catalog import Partition, Storage, TableName
from hmstats.wire.catalog import partition_to_thrift, storage_to_thrift
from hmstats.wire.json_protocol import struct_to_json, text_to_json
from hmstats.wire.partition_bytes import format_key

_PLACE = "\0place\0"
"""Stands for a place while the rest is written: no stored text has it."""
_PARAMETERS = '"7":{"map":'
"""What follows the storage. Inside of a text there would be a backslash before the quotation marks."""


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
        key = (id(storage.columns), *format_key(storage))
        known = self._storages.get(key)
        if known is None:
            text = struct_to_json(storage_to_thrift(replace(storage, location=_PLACE)))
            before, _, after = text.partition(text_to_json(_PLACE))
            known = self._storages[key] = storage, before, after  # it keeps the columns, whose id is a part of the key
        return f"{known[1]}{text_to_json(storage.location or '')}{known[2]}"

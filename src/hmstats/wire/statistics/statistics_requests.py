"""Requests for the statistics of many columns, straight from their bytes: a struct for each takes thrice as long.

If a request is unusual, the result is None, and thriftpy2 must decode it. Field ids as in hive_metastore.thrift;
format: thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift.
"""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

_STOP, _I64, _STRING, _STRUCT, _LIST = 0, 10, 11, 12, 15
_ARGUMENT = b"\x0c\x00\x01"
"""The beginning of the arguments: field 1, a struct."""
_short = struct.Struct(">h").unpack_from
_size = struct.Struct(">I").unpack_from
_elements = struct.Struct(">bI").unpack_from

_OF_PARTITIONS = {1: "database", 2: "table", 3: "columns", 4: "partitions", 5: "catalog", 6: "valid", 7: "engine"}
_OF_TABLE = {1: "database", 2: "table", 3: "columns", 4: "catalog", 5: "valid", 6: "engine", 7: "id"}
_LISTS = frozenset({"columns", "partitions"})


class StatisticsRequest(NamedTuple):
    """The names in a request, as they were sent; `engine` is None if the client is older than Hive 4."""

    database: str
    table: str
    columns: list[str]
    partitions: list[str]
    catalog: str | None
    engine: str | None


def of_partitions(message: bytes, body_at: int) -> StatisticsRequest | None:
    """The names in a request of get_partitions_statistics_req, whose arguments begin at `body_at`."""
    return _read(message, body_at, _OF_PARTITIONS)


def of_table(message: bytes, body_at: int) -> StatisticsRequest | None:
    """The names in a request of get_table_statistics_req; `partitions` is empty."""
    return _read(message, body_at, _OF_TABLE)


def _read(message: bytes, body_at: int, names: Mapping[int, str]) -> StatisticsRequest | None:
    if not message.startswith(_ARGUMENT, body_at):
        return None
    try:
        fields = _fields(message, body_at + len(_ARGUMENT), names)
    except (struct.error, UnicodeDecodeError, IndexError):
        return None
    if fields is None or fields.get("valid") is not None or not fields.get("database") or not fields.get("table"):
        return None
    columns, partitions = fields.get("columns", []), fields.get("partitions", [])
    return StatisticsRequest(
        fields["database"], fields["table"], columns, partitions, fields.get("catalog"), fields.get("engine")
    )


def _fields(message: bytes, at: int, names: Mapping[int, str]) -> dict[str, Any] | None:
    """The fields of a struct by name; None if one has an unexpected type."""
    fields: dict[str, Any] = {}
    while message[at] != _STOP:
        kind, name = message[at], names.get(_short(message, at + 1)[0])
        at += 3
        if kind == _STRING and name is not None and name not in _LISTS:
            end = at + 4 + _size(message, at)[0]
            fields[name] = message[at + 4 : end].decode()
            at = end
        elif kind == _LIST and name in _LISTS and message[at] == _STRING:
            fields[name], at = _texts(message, at)
        elif kind == _I64 and name == "id":
            at += 8
        else:
            return None
    return fields


def _texts(message: bytes, at: int) -> tuple[list[str], int]:
    """A list of texts, and where it ends."""
    _, count = _elements(message, at)
    at += 5
    texts = []
    for _ in range(count):
        end = at + 4 + _size(message, at)[0]
        texts.append(message[at + 4 : end].decode())
        at = end
    return texts, at

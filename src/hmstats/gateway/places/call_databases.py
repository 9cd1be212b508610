"""Finds the databases that a call is about in its bytes: only their names are decoded.

The places of the names follow from the API's definition. Of a long list, such as one of partitions, only the first
element is read: a metastore refuses a call whose partitions do not all belong to one table.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from thriftpy2.thrift import TType

from hmstats.errors import MetaError
from hmstats.model.catalog.names import database_name
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.messages.request import Request
from hmstats.wire.idl import Method, methods
from hmstats.wire.messages.scanner import end_of_value

_DATABASE = re.compile(
    r"(parent_|foreign_)?db_?name|database(_?name)?|(source|dest)_db|(pk|fk)?table_db|olddbname", re.IGNORECASE
)
_CATALOG = re.compile(r"cat_?name|catalog(_?name)?", re.IGNORECASE)
_NAMED = frozenset({"Database", "GetDatabaseRequest", "DropDatabaseRequest", "get_database", "drop_database"})
"""Structs and calls whose field `name` is the name of a database."""
_PASSED_OVER = frozenset({"CreationMetadata", "StorageDescriptor", "EnvironmentContext"})
"""Structs that have names but do not tell which place a call belongs to."""
_OF_OBJECTS = frozenset({"Table", "Partition"})
"""Structs in whose statistics the database is named once more."""
_EACH = frozenset({"SQLForeignKey", "HiveObjectPrivilege"})
"""Structs whose lists may refer to several databases."""
_DEEPEST = 5
_UNROUTED = frozenset(
    {
        # Locks, transactions, compaction and the notification log concern all databases at once.
        *("lock", "show_locks", "allocate_table_write_ids", "add_dynamic_partitions", "commit_txn", "compact"),
        *("compact2", "find_columns_with_stats", "get_all_write_event_info", "get_latest_committed_compaction_info"),
        *("get_lock_materialization_rebuild", "heartbeat_lock_materialization_rebuild", "mark_cleaned"),
        *("get_max_allocated_table_write_id", "get_next_notification", "get_notification_events_count"),
        *("mark_compacted", "mark_failed", "mark_refused", "repl_tbl_writeid_state", "seed_write_id", "show_compact"),
        *("remove_compaction_metrics_data", "submit_for_cleanup", "update_compaction_metrics_data"),
        *("update_compactor_state", "add_write_notification_log", "add_write_notification_log_in_batch"),
    }
)
_Found = Iterator[tuple[str, str | None]]
_FIELD = struct.Struct(">Bh").unpack_from
_LIST = struct.Struct(">BI").unpack_from
_SIZE = struct.Struct(">I").unpack_from


@dataclass
class _Names:
    """The positions of names in a struct, by the ids of its fields."""

    databases: set[int] = field(default_factory=set)
    catalog: int | None = None
    inner: dict[int, "_Names"] = field(default_factory=dict)
    each: bool = False
    """Whether every element of a list of these structs is read."""


def databases_of(request: Request) -> list[DatabaseName]:
    """The databases that a call names; none if it is about none, or about all. Raises MetaError for an invalid name."""
    names = _places().get(request.head.name)
    if names is None:
        return []
    found = _read(request.message, request.head.body_at, names)
    try:
        return list(dict.fromkeys(database_name(text, catalog) for text, catalog in found))
    except UnicodeDecodeError as error:
        raise MetaError(f"{request.head.name} is refused: a database's name must be UTF-8") from error


def _read(message: bytes, at: int, names: _Names) -> _Found:
    """The names in the struct at a position, each with its catalog."""
    texts, catalog = list[str](), None
    deeper = list[tuple[str, str | None]]()
    while message[at] != TType.STOP:
        kind, number = _FIELD(message, at)
        at += 3
        if kind == TType.STRING and number in names.databases:
            texts.append(_text(message, at))
        elif kind == TType.STRING and number == names.catalog:
            catalog = _text(message, at)
        elif number in names.inner and kind in (TType.STRUCT, TType.LIST):
            deeper += _inner(message, kind, at, names.inner[number])
        at = end_of_value(message, kind, at)
    yield from ((each, catalog or None) for each in texts if each)
    yield from deeper


def _inner(message: bytes, kind: int, at: int, names: _Names) -> _Found:
    if kind == TType.STRUCT:
        yield from _read(message, at, names)
        return
    kind, count = _LIST(message, at)
    at += 5
    for _ in range((count if names.each else min(count, 1)) if kind == TType.STRUCT else 0):
        yield from _read(message, at, names)
        at = end_of_value(message, kind, at)


def _text(message: bytes, at: int) -> str:
    begin = at + 4
    return message[begin : begin + _SIZE(message, at)[0]].decode()


@cache
def _places() -> Mapping[str, _Names]:
    """The positions of names in the arguments of each call that has any."""
    found = {name: _of_arguments(each) for name, each in methods().items() if name not in _UNROUTED}
    return {name: each for name, each in found.items() if each is not None}


def _of_arguments(method: Method) -> _Names | None:
    return _of_struct(method.name, method.arguments.thrift_spec, 0)


def _of_struct(owner: str, spec: Mapping[int, Any], depth: int) -> _Names | None:
    names = _Names(each=owner in _EACH)
    for number, (kind, name, *rest) in spec.items():
        if kind == TType.STRING and (_DATABASE.fullmatch(name) or (name == "name" and owner in _NAMED)):
            names.databases.add(number)
        elif kind == TType.STRING and _CATALOG.fullmatch(name):
            names.catalog = number
        elif (struct_class := _struct_in(kind, rest[0])) is not None and depth < _DEEPEST:
            inner_owner = struct_class.__name__
            again = inner_owner == "ColumnStatistics" and owner in _OF_OBJECTS
            if inner_owner in _PASSED_OVER or again:
                continue
            inner = _of_struct(inner_owner, struct_class.thrift_spec, depth + 1)
            if inner is not None:
                names.inner[number] = inner
    return names if names.databases or names.inner else None


def _struct_in(kind: int, spec: Any) -> Any:
    """The class of a field that is a struct or a list of structs, else None."""
    if kind == TType.STRUCT:
        return spec
    if kind == TType.LIST and isinstance(spec, tuple) and spec[0] == TType.STRUCT:
        return spec[1]
    return None

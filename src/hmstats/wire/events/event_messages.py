"""Messages of the notification log: what Hive's listener writes for each event, format `json-0.2`.

A message is a JSON object; tables, partitions and other structs are in it as texts of Thrift's JSON protocol. Types,
names and values are those that a real Hive 4.0.1 writes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from hmstats.model.catalog.constraints import ColumnConstraint, ConstraintKind
from hmstats.model.catalog.names import partition_name
from hmstats.model.catalog.objects import MANAGED_TABLE, Partition, Table, TableName
from hmstats.model.events import (
    ConstraintDropped,
    ConstraintsAdded,
    DatabaseAltered,
    DatabaseCreated,
    DatabaseDropped,
    Event,
    FunctionCreated,
    FunctionDropped,
    Inserted,
    Logged,
    Notification,
    PartitionAltered,
    PartitionsAdded,
    PartitionsDropped,
    Reloaded,
    StatisticsDeleted,
    StatisticsUpdated,
    TableAltered,
    TableCreated,
    TableDropped,
)
from hmstats.wire.catalog.constraints import constraints_to_thrift
from hmstats.wire.catalog.functions import function_to_thrift
from hmstats.wire.catalog.objects import database_to_thrift, partition_to_thrift, table_to_thrift
from hmstats.wire.events.json_protocol import struct_to_json, text_to_json
from hmstats.wire.events.partition_texts import PartitionTexts
from hmstats.wire.idl import hive_metastore
from hmstats.wire.statistics.column_statistics import set_to_thrift

FORMAT = "json-0.2"
_NO_WRITE_ID = -1
"""The write id of a change outside of a transaction."""
_CONSTRAINTS = {
    ConstraintKind.PRIMARY_KEY: ("ADD_PRIMARYKEY", "primaryKeyListJson"),
    ConstraintKind.FOREIGN_KEY: ("ADD_FOREIGNKEY", "foreignKeyListJson"),
    ConstraintKind.UNIQUE: ("ADD_UNIQUECONSTRAINT", "uniqueConstraintListJson"),
    ConstraintKind.NOT_NULL: ("ADD_NOTNULLCONSTRAINT", "notNullConstraintListJson"),
    ConstraintKind.DEFAULT: ("ADD_DEFAULTCONSTRAINT", "defaultConstraintListJson"),
    ConstraintKind.CHECK: ("ADD_CHECKCONSTRAINT", "checkConstraintListJson"),
}
"""The type of each kind's event, and the field with the constraints."""

_json_of = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

_Fields = dict[str, Any]
"""The fields of a message: what JSON knows, and lists of JSON texts."""
_Description = tuple[str, str, str, str | None, _Fields]
"""An event's type, its catalog, database and table, and the fields of its message."""


@dataclass(frozen=True, slots=True)
class _JsonList:
    """A list in a message, whose items are made one at a time: an event may be of 100,000 partitions."""

    items: Iterable[str]

    def pieces(self) -> Iterator[str]:
        """The list's text, in pieces."""
        separator = "["
        for item in self.items:
            yield f"{separator}{item}"
            separator = ","
        yield "]" if separator == "," else "[]"


def encoder(*, sketches: bool) -> Callable[[Event, int], Notification]:
    """A function from an event and its time, in epoch seconds, to the notification.

    `sketches`: statistics in messages carry bit vectors and histograms.
    """

    def describe(event: Event) -> _Description:
        return (
            _statistics_updated(event, sketches=sketches) if isinstance(event, StatisticsUpdated) else _describe(event)
        )

    def encode(event: Event, now_seconds: int) -> Notification:
        kind, catalog, database, table, fields = describe(event)
        message = {"server": "", "servicePrincipal": "", **fields, "timestamp": now_seconds}
        return Notification(kind, catalog, database, table, _json(message), FORMAT)

    return encode


def logged_to_thrift(logged: Logged) -> Any:
    """The NotificationEvent struct."""
    return hive_metastore.NotificationEvent(
        eventId=logged.id,
        eventTime=logged.time_seconds,
        eventType=logged.notification.type,
        dbName=logged.notification.database,
        tableName=logged.notification.table,
        message=logged.notification.message,
        messageFormat=logged.notification.format,
        catName=logged.notification.catalog,
    )


@singledispatch
def _describe(event: Event) -> _Description:
    raise TypeError(f"an event was expected that has a message, found {event}")


@_describe.register
def _(event: DatabaseCreated) -> _Description:
    return _of_database("CREATE_DATABASE", event.database, dbJson=_database(event.database))


@_describe.register
def _(event: DatabaseAltered) -> _Description:
    changed = {"dbObjBeforeJson": _database(event.before), "dbObjAfterJson": _database(event.after)}
    return _of_database("ALTER_DATABASE", event.before, **changed)


@_describe.register
def _(event: DatabaseDropped) -> _Description:
    return _of_database("DROP_DATABASE", event.database, dbJson=_database(event.database))


@_describe.register
def _(event: TableCreated) -> _Description:
    return _of_table("CREATE_TABLE", event.table, tableObjJson=_table(event.table), files=[])


@_describe.register
def _(event: TableAltered) -> _Description:
    changed = {"tableObjBeforeJson": _table(event.before), "tableObjAfterJson": _table(event.after)}
    write_id = _NO_WRITE_ID if event.truncated else event.after.write_id
    kept = {"isTruncateOp": _boolean_text(value=event.truncated), "writeId": write_id}
    # If a table is renamed, the message has the old name and the log the new one.
    kind, *_, fields = _of_table("ALTER_TABLE", event.before, **changed, **kept)
    return _on_table(kind, event.after.name, fields)


@_describe.register
def _(event: TableDropped) -> _Description:
    return _of_table("DROP_TABLE", event.table, tableObjJson=_table(event.table))


@_describe.register
def _(event: PartitionsAdded) -> _Description:
    table, new = event.table, event.partitions
    keys = _keys(table)
    named = new if table.table_type == MANAGED_TABLE else []
    texts = PartitionTexts(table.name)
    return _of_table(
        "ADD_PARTITION",
        table,
        tableObjJson=_table(table),
        partitions=_values(table, new),
        partitionListJson=_JsonList(text_to_json(texts.text(each)) for each in new),
        partitionFiles=_JsonList(
            _json_of({"partitionName": partition_name(keys, each.values), "files": []}) for each in named
        ),
    )


@_describe.register
def _(event: PartitionAltered) -> _Description:
    return _of_table(
        "ALTER_PARTITION",
        event.table,
        tableObjJson=_table(event.table),
        isTruncateOp=_boolean_text(value=event.truncated),
        writeId=_NO_WRITE_ID,
        keyValues=_key_values(event.table, event.before),
        partitionObjBeforeJson=_partition(event.table, event.before),
        partitionObjAfterJson=_partition(event.table, event.after),
    )


@_describe.register
def _(event: PartitionsDropped) -> _Description:
    table = event.table
    return _of_table("DROP_PARTITION", table, tableObjJson=_table(table), partitions=_values(table, event.partitions))


@_describe.register
def _(event: Inserted) -> _Description:
    return _of_table(
        "INSERT",
        event.table,
        tableObjJson=_table(event.table),
        ptnObjJson=event.partition and _partition(event.table, event.partition),
        replace=_boolean_text(value=event.replacing),
        # A file's checksum and the location of its copy would follow; this server makes no copies.
        files=[f"{file}###" for file in event.files],
    )


@_describe.register
def _(event: Reloaded) -> _Description:
    name = event.table.name
    fields = {
        "db": name.database,
        "table": name.table,
        "tableObjJson": _table(event.table),
        "ptnObjJson": event.partition and _partition(event.table, event.partition),
        "refreshEvent": _boolean_text(value=event.refresh),
    }
    return _on_table("RELOAD", name, fields)


def _statistics_updated(event: StatisticsUpdated, *, sketches: bool) -> _Description:
    name, statistics = event.table.name, event.statistics
    fields = {
        "database": name.database,
        "tableObjJson": _table(event.table),
        "colStatsJson": struct_to_json(set_to_thrift(name, statistics, hive4=True, sketches=sketches)),
        "parameters": dict(event.parameters),
        "writeId": _NO_WRITE_ID,
    }
    if statistics.partition is None:
        return _on_table("UPDATE_TBL_COL_STAT_EVENT", name, fields)
    return _on_table("UPDATE_PART_COL_STAT_EVENT", name, fields | {"partVals": list(event.values)})


@_describe.register
def _(event: StatisticsDeleted) -> _Description:
    fields: _Fields = {"database": event.table.database, "colName": event.column}
    if event.partition is None:
        return _on_table("DELETE_TBL_COL_STAT_EVENT", event.table, fields)
    fields |= {"partName": event.partition, "partValues": list(event.values)}
    return _on_table("DELETE_PART_COL_STAT_EVENT", event.table, fields)


@_describe.register
def _(event: FunctionCreated) -> _Description:
    name = event.function.name
    struct = function_to_thrift(event.function)
    struct.catName = None
    return (
        "CREATE_FUNCTION",
        name.catalog,
        name.database,
        None,
        {
            "db": name.database,
            "functionObjJson": struct_to_json(struct),
        },
    )


@_describe.register
def _(event: FunctionDropped) -> _Description:
    name = event.name
    return "DROP_FUNCTION", name.catalog, name.database, None, {"db": name.database, "functionName": name.function}


@_describe.register
def _(event: ConstraintsAdded) -> _Description:
    first = event.constraints[0]
    kind, field = _CONSTRAINTS[first.kind]
    return _on_table(
        kind, _constrained(first), {field: list(map(struct_to_json, constraints_to_thrift(event.constraints)))}
    )


@_describe.register
def _(event: ConstraintDropped) -> _Description:
    name = event.table
    fields = {"dbName": name.database, "tableName": name.table, "constraintName": event.name}
    return _on_table("DROP_CONSTRAINT", name, fields)


def _constrained(constraint: ColumnConstraint) -> TableName:
    """The table that the event is about: for a foreign key the one that is referred to, as in Hive."""
    return constraint.reference.table if constraint.reference else constraint.table


def _of_database(kind: str, database: Any, **fields: Any) -> _Description:
    name = database.name
    return kind, name.catalog, name.database, None, {"db": name.database, **fields}


def _of_table(kind: str, table: Table, **fields: Any) -> _Description:
    name = table.name
    return _on_table(kind, name, {"db": name.database, "table": name.table, "tableType": table.table_type, **fields})


def _on_table(kind: str, name: TableName, fields: _Fields) -> _Description:
    return kind, name.catalog, name.database, name.table, fields


def _database(database: Any) -> str:
    return struct_to_json(database_to_thrift(database))


class _Tables:
    """Texts of tables, of which the last is cached: a call may write thousands of events of one table."""

    def __init__(self) -> None:
        self._last: tuple[Table, str] | None = None

    def __call__(self, table: Table) -> str:
        last = self._last
        if last is None or last[0] is not table:
            self._last = last = table, struct_to_json(table_to_thrift(table))
        return last[1]


_table = _Tables()


def _partition(table: Table, partition: Partition) -> str:
    return struct_to_json(partition_to_thrift(table.name, partition))


def _keys(table: Table) -> list[str]:
    return [key.name for key in table.partition_keys]


def _key_values(table: Table, partition: Partition) -> dict[str, str]:
    return dict(zip(_keys(table), partition.values, strict=True))


def _values(table: Table, partitions: Sequence[Partition]) -> _JsonList:
    """Key to value of each partition."""
    return _JsonList(_json_of(_key_values(table, each)) for each in partitions)


def _boolean_text(*, value: bool) -> str:
    return "true" if value else "false"


def _json(message: _Fields) -> str:
    """The text of a message, joined from its pieces, between which other threads may run."""
    return "".join(_pieces(message))


def _pieces(message: _Fields) -> Iterator[str]:
    separator = "{"
    for name, value in message.items():
        yield f'{separator}"{name}":'
        separator = ","
        if isinstance(value, _JsonList):
            yield from value.pieces()
        else:
            yield _json_of(value)
    yield "}"

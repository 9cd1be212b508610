"""Calls about the log of changes: which tables were changed since a number of the log."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hmstats.client.connection.connection import Connection
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName
from hmstats.wire.idl import hive_metastore

_EVENTS_A_CALL = 1_000


@dataclass(frozen=True, slots=True)
class Event:
    """A change of a table, or of something else (`table` None), with its number in the log, and Hive's name of it."""

    number: int
    kind: str
    table: TableName | None


class EventLog:
    """The log of changes of a metastore that keeps one.

    Every method raises ServiceUnavailable if the metastore cannot be reached, and CallRefused if it answers with an
    exception.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def last(self) -> int:
        """The number of the last change; 0 before the first."""
        return int(self._connection.call("get_current_notificationEventId").eventId)

    def since(self, number: int) -> Iterator[Event]:
        """The changes after this number, in order; those that the log no longer has are left out."""
        while True:
            request = hive_metastore.NotificationEventRequest(lastEvent=number, maxEvents=_EVENTS_A_CALL)
            found = self._connection.call("get_next_notification", request).events
            yield from map(_event, found)
            if len(found) < _EVENTS_A_CALL:
                return
            number = found[-1].eventId


def _event(struct: Any) -> Event:
    table = None
    if struct.dbName and struct.tableName:
        table = table_name(struct.dbName, struct.tableName, struct.catName or DEFAULT_CATALOG)
    return Event(struct.eventId, struct.eventType, table)

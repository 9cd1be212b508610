"""Calls about the notification log."""

from collections.abc import Sequence
from typing import Any

from hmstats.errors import InvalidInput, MetaError
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.model.events import NotificationFilter
from hmstats.server.rpc import subject
from hmstats.server.rpc.caller import Session
from hmstats.service.notifications import Insertion, NotificationLog
from hmstats.wire.events.event_messages import logged_to_thrift
from hmstats.wire.idl import hive_metastore

_EVERY_DATABASE = "*"
"""What Hive's clients name when they count the events of all databases."""


class NotificationCalls:
    """Reads the notification log, and adds events of written files."""

    def __init__(self, log: NotificationLog) -> None:
        self._log = log

    def get_current_notificationEventId(self, session: Session) -> Any:  # noqa: N802
        """The id of the last event; 0 before the first."""
        return hive_metastore.CurrentNotificationEventId(eventId=self._log.current_id())

    def get_next_notification(self, session: Session, rqst: Any) -> Any:
        """The events after `lastEvent`, filtered by tables and types, at most `maxEvents` if it is above 0."""
        limit = rqst.maxEvents if rqst.maxEvents and rqst.maxEvents > 0 else None
        wanted = NotificationFilter(
            after=rqst.lastEvent or 0,
            catalog=_lower(rqst.catName),
            database=_lower(rqst.dbName),
            tables=_all_lower(rqst.tableNames),
            types=rqst.eventTypeList or (),
            other_types=rqst.eventTypeSkipList or (),
        )
        events = [logged_to_thrift(each) for each in self._log.read(wanted, limit)]
        return hive_metastore.NotificationEventResponse(events=events)

    def get_notification_events_count(self, session: Session, rqst: Any) -> Any:
        """How many events a database, or all, has after `fromEventId`, up to `toEventId` if set, at most `limit`."""
        wanted = NotificationFilter(
            after=rqst.fromEventId or 0,
            until=rqst.toEventId,
            catalog=_lower(rqst.catName) or DEFAULT_CATALOG,
            database=None if rqst.dbName == _EVERY_DATABASE else _lower(rqst.dbName),
            tables=_all_lower(rqst.tableNames),
        )
        number = self._log.count(wanted)
        if rqst.limit is not None and rqst.limit >= 0:
            number = min(number, rqst.limit)
        return hive_metastore.NotificationEventsCountResponse(eventsCount=number)

    def fire_listener_event(self, session: Session, rqst: Any) -> Any:
        """Add events of files that were inserted, or of a table or partition to reload; returns the events' ids."""
        name = subject.table(rqst.dbName, rqst.tableName, rqst.catName)
        values, data = rqst.partitionVals or (), rqst.data
        if data is not None and data.refreshEvent is not None:
            written = self._log.record_reload(name, values, rqst.tblParams or {}, refresh=data.refreshEvent)
        elif data is not None and data.insertDatas is not None:
            if not all(each.partitionVal for each in data.insertDatas):
                raise MetaError("Partition values must be set when firing multiple insert events")
            written = self._log.record_insertions(
                name, [_insertion(each, each.partitionVal) for each in data.insertDatas]
            )
        elif data is not None and data.insertData is not None:
            written = self._log.record_insertions(name, [_insertion(data.insertData, values)])
        else:
            raise InvalidInput("an event must say what was inserted or that something is to be read anew, found none")
        return hive_metastore.FireEventResponse(eventIds=written)

    def add_write_notification_log(self, session: Session, rqst: Any) -> Any:
        """No effect: only transactions write such events, and no table here is transactional."""
        return hive_metastore.WriteNotificationLogResponse()

    def add_write_notification_log_in_batch(self, session: Session, rqst: Any) -> Any:
        """No effect: only transactions write such events, and no table here is transactional."""
        return hive_metastore.WriteNotificationLogBatchResponse()

    def cm_recycle(self, session: Session, request: Any) -> Any:
        """No effect: copies of changed files for replication are off, as in Hive by default."""
        return hive_metastore.CmRecycleResponse()


def _insertion(struct: Any, values: Sequence[str]) -> Insertion:
    """The insertion in a struct; if `replace` is unset, the files replace the old ones, as in Hive.

    Clients of Hive 2.3 send files where newer ones say whether they replace, and checksums where newer ones send files:
    empty texts, where the file system has no checksums.
    """
    replacing = struct.replace is None or struct.replace
    files = [file for file in struct.filesAdded or () if file]
    return Insertion(files, values, replacing)


def _lower(name: str | None) -> str | None:
    return None if name is None else name.lower()


def _all_lower(names: Sequence[str] | None) -> list[str]:
    return [name.lower() for name in names or ()]

"""The upstream's notification log, which can prove that nothing has changed.

Hive 4 logs each change of tables and statistics in the transaction of the change, if its listener is configured so;
older releases do not log statistics. For each table the log gives the last number that may be about it. Events that are
missing or not understood may be about any table. Hive 4.1 logs the truncation of a table before the change is
committed: then nothing is proven of the table until its next event.

Every minute the upstream is asked again whether it logs in this way, since its configuration may change. If the log's
last number decreases, the upstream's database was restored from a backup, and the same numbers will be given to other
events: nothing is proven until every earlier answer is too old to be used.
"""

import json
import threading
import time
from collections import OrderedDict
from typing import Any, NamedTuple

import structlog

from hmstats.errors import CallRefused
from hmstats.gateway.upstream.rounds import Rounds
from hmstats.gateway.upstream.upstream_calls import UpstreamCalls
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.wire.events.read_messages import UNREADABLE, message_of
from hmstats.wire.idl import hive_metastore

_log = structlog.get_logger("hmstats.gateway")

_MOST_TABLES = 2_000
"""The most tables whose last event is remembered."""
_MOST_EVENTS = 1_000
_ASKED_SECONDS = 60.0
"""How long an answer about the upstream's listeners is used."""
_DOUBT_SECONDS = 120.0
"""How long nothing is proven after the log's number has decreased: twice as long as answers are used."""
_NEVER = 2**63
"""The last number of a table of which nothing is proven."""
_NUMBER = "get_current_notificationEventId"
_LISTENERS = ("hive.metastore.transactional.event.listeners", "metastore.transactional.event.listeners")
_LISTENER = "DbNotificationListener"
_WITHOUT_TABLES = frozenset(
    {
        *("CREATE_DATABASE", "ALTER_DATABASE", "CREATE_FUNCTION", "DROP_FUNCTION", "CREATE_CATALOG", "ALTER_CATALOG"),
        *("OPEN_TXN", "COMMIT_TXN", "ABORT_TXN"),  # no statistics of transactional tables are kept
    }
)


class Known(NamedTuple):
    """The number up to which the log was read, and the last number up to it that may be about a table."""

    read_to: int
    last: int


class NotificationLog:
    """Reads the log, and remembers the last event of each table. Thread-safe."""

    def __init__(self) -> None:
        self._is_usable: bool | None = None
        self._asked_at = 0.0
        """The time of the last question whether the log is usable."""
        self._left_because = ""
        self._doubted_until = 0.0
        self._read_to: int | None = None
        self._last_of: OrderedDict[TableName, int] = OrderedDict()
        self._last_of_all = 0
        """The number of the last event that may be about any table."""
        self._lock = threading.Lock()
        self._numbers = Rounds[int]()

    def number(self, calls: UpstreamCalls) -> int | None:
        """Read the log to its end, and return its last number; None if the log proves nothing.

        Threads that wait for the number at the same time ask once. Raises UpstreamUnavailable and UpstreamClosed.
        """
        if self._is_usable is None or time.monotonic() - self._asked_at > _ASKED_SECONDS:
            self._is_usable, self._asked_at = _is_usable(calls), time.monotonic()
        if not self._is_usable:
            return None
        try:
            number = self._ask_number(calls)
            self._read(calls, number)
        except CallRefused as error:
            self._leave(str(error))
            return None
        return None if self._is_doubted else number

    @property
    def proves_nothing(self) -> bool:
        """Whether the log is known to prove nothing."""
        return self._is_usable is False

    def _ask_number(self, calls: UpstreamCalls) -> int:
        """The last number, from a question that was sent after this call began. Raises as UpstreamCalls.call does."""

        def ask() -> int:
            read_to = self._read_to
            number = int(calls.call(_NUMBER).eventId)
            if read_to is not None and number < read_to:
                self._begin_anew(read_to, number)
            return number

        entry = self._numbers.enter(_NUMBER)
        if entry.leads:
            with self._numbers.leading(_NUMBER, entry):
                entry.round.answer = ask()
                return entry.round.answer
        found = entry.round.wait()
        return ask() if found is None else found

    def last(self, table: TableName) -> int:
        """The last number that was read and may be about a table."""
        with self._lock:
            return max(self._last_of.get(table, 0), self._last_of_all)

    def state_of(self, table: TableName) -> Known | None:
        """Where reading has come to, and a table's last number; None while the log is read, or if it proves nothing.

        Never waits.
        """
        if not self._is_usable or self._is_doubted or not self._lock.acquire(blocking=False):
            return None
        try:
            last = max(self._last_of.get(table, 0), self._last_of_all)
            return None if self._read_to is None else Known(self._read_to, last)
        finally:
            self._lock.release()

    def _leave(self, reason: str) -> None:
        """Stop using the log until the next question whether it is usable."""
        self._is_usable = False
        if reason != self._left_because:
            _log.warning("log_not_readable", reason=reason)
        self._left_because = reason

    @property
    def _is_doubted(self) -> bool:
        """Whether the log's number has decreased and earlier answers may still be used."""
        return time.monotonic() < self._doubted_until

    def _begin_anew(self, read_to: int, number: int) -> None:
        """Read the log from a number that is lower than the one up to which it had been read before the question."""
        with self._lock:
            _log.warning("log_fell", read_to=read_to, number=number)
            self._doubted_until = time.monotonic() + _DOUBT_SECONDS
            self._read_to = self._last_of_all = number
            self._last_of.clear()

    def _read(self, calls: UpstreamCalls, number: int) -> None:
        """Read the log up to a number."""
        with self._lock:
            if self._read_to is None:
                self._read_to = self._last_of_all = number
            if number <= self._read_to:
                return
            request = hive_metastore.NotificationEventRequest(lastEvent=self._read_to, maxEvents=_MOST_EVENTS)
            events = calls.call("get_next_notification", request).events or []
            numbers = [each.eventId for each in events]
            whole = list(range(self._read_to + 1, self._read_to + 1 + len(numbers)))
            if numbers != whole or not numbers or numbers[-1] < number:
                self._read_to = self._last_of_all = max(number, *numbers, self._read_to)
                return
            for each in events:
                self._follow(each)
            self._read_to = numbers[-1]

    def _follow(self, event: Any) -> None:
        if event.eventType in _WITHOUT_TABLES:
            return
        tables = _tables_of(event)
        if not tables:
            self._last_of_all = event.eventId
        last = _NEVER if _is_truncation(event) else event.eventId
        for each in tables:
            self._last_of[each] = last
            self._last_of.move_to_end(each)
        while len(self._last_of) > _MOST_TABLES:
            _, number = self._last_of.popitem(last=False)
            self._last_of_all = max(self._last_of_all, event.eventId if number == _NEVER else number)


def _is_usable(calls: UpstreamCalls) -> bool:
    """Whether the upstream logs changes of statistics in their transactions."""
    if not calls.generation.is_4:
        return False
    try:
        return any(_LISTENER in str(calls.call("get_config_value", name, "")) for name in _LISTENERS)
    except CallRefused:
        return False


def _tables_of(event: Any) -> list[TableName]:
    """The tables that an event is about; empty if that is unknown."""
    if not event.dbName or not event.tableName:
        return []
    tables = [table_name(event.dbName, event.tableName, event.catName)]
    if event.eventType == "ALTER_TABLE":  # the new name stands beside the message, the old one in it
        before = _before(event)
        return [] if before is None else [*tables, before]
    return tables


def _before(event: Any) -> TableName | None:
    """The name of a changed table before the change; None if the message cannot be read."""
    try:
        table = json.loads(message_of(event)["tableObjBeforeJson"])
        catalog = table.get("17", {}).get("str")
        return table_name(table["2"]["str"], table["1"]["str"], catalog or event.catName)
    except UNREADABLE:
        return None


def _is_truncation(event: Any) -> bool:
    """Whether an event reports the truncation of a whole table."""
    if event.eventType != "ALTER_TABLE":
        return False
    try:
        return str(message_of(event).get("isTruncateOp")).lower() == "true"
    except UNREADABLE:
        return True

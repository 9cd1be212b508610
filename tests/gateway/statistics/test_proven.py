"""Questions that the gateway need not compare with the upstream again, since its log proves it."""

import base64
import gzip
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from tests.gateway.gateways import wait_until

from hmstats.errors import CallRefused
from hmstats.gateway.statistics import proven
from hmstats.gateway.statistics.proven import Comparison, Proven
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.gateway.upstream import notification_log
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.generation import Generation
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.model.catalog.objects import TableName

ANNA, BEN = User("anna"), User("ben")
T, U = (StatisticsScope(TableName("hive", "d", each), own=True, columns=("a",)) for each in ("t", "u"))


class Log:
    """An upstream that is nothing but its log."""

    def __init__(self, release: int = 4, listener: str = "x.DbNotificationListener") -> None:
        self.generation = Generation(release)
        self.events: list[Any] = []
        self.asked: list[str] = []
        self._listener = listener

    def add(self, kind: str, table: str | None = "t", **more: Any) -> None:
        number = self.events[-1].eventId + 1 if self.events else 1
        names = {"dbName": "D", "tableName": table, "catName": "hive", "message": "{}", "messageFormat": None}
        self.events.append(SimpleNamespace(eventId=number, eventType=kind, **{**names, **more}))

    def call(self, name: str, *arguments: Any) -> Any:
        self.asked.append(name)
        if name == "get_config_value":
            return self._listener if arguments[0].startswith("hive.") else arguments[1]
        if name == "get_current_notificationEventId":
            return SimpleNamespace(eventId=self.events[-1].eventId if self.events else 0)
        after, most = arguments[0].lastEvent, arguments[0].maxEvents
        return SimpleNamespace(events=[each for each in self.events if each.eventId > after][:most])


def number(found: Proven, log: Any) -> int:
    read = found._upstreams.number(log)
    assert read is not None
    return read


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def compared(log: Log) -> Proven:
    """Both tables were compared for anna when the log had one event."""
    log.add("CREATE_TABLE", "other")
    found = Proven(NotificationLog())
    for each in (T, U):
        found.note(ANNA, each, Comparison(number(found, log), 7))
    return found


def holding(found: Proven, log: Any, user: User = ANNA, mirror_id: int = 7) -> list[str]:
    """The tables of which a comparison still holds."""
    now = Comparison(number(found, log), mirror_id)
    return [each.table.table for each in (T, U) if found.holds(user, each, now)]


def test_a_comparison_holds_while_nothing_is_logged(compared: Proven, log: Log) -> None:
    assert holding(compared, log) == ["t", "u"]
    assert log.asked.count("get_next_notification") == 0
    assert holding(compared, log, BEN) == [], "another user may not be allowed to read"
    assert holding(compared, log, mirror_id=8) == [], "a mirror that was made anew has not all columns"


@pytest.mark.parametrize("kind", ["UPDATE_TBL_COL_STAT", "DROP_TABLE", "ADD_PARTITION", "AN_EVENT_OF_2030"])
def test_an_event_ends_comparisons_of_its_table(compared: Proven, log: Log, kind: str) -> None:
    log.add(kind, "T")
    assert holding(compared, log) == ["u"]
    compared.note(ANNA, T, Comparison(number(compared, log), 7))
    assert holding(compared, log) == ["t", "u"]


def test_a_comparison_of_before_an_event_does_not_hold_though_it_is_noted_later(compared: Proven, log: Log) -> None:
    before = Comparison(number(compared, log), 7)
    log.add("UPDATE_TBL_COL_STAT")
    number(compared, log)
    compared.note(ANNA, T, before)
    assert holding(compared, log) == ["u"]


def altered(old: str, *, packed: bool, truncated: bool = False) -> dict[str, Any]:
    """What an event has of a table that had the name `old`."""
    before = json.dumps({"1": {"str": old}, "2": {"str": "d"}})
    text = json.dumps({"tableObjBeforeJson": before, "isTruncateOp": str(truncated).lower()})
    if not packed:
        return {"message": text}
    return {"message": base64.b64encode(gzip.compress(text.encode())).decode(), "messageFormat": "gzip(json-2.0)"}


@pytest.mark.parametrize("packed", [False, True])
def test_a_rename_ends_comparisons_of_the_old_name(compared: Proven, log: Log, packed: bool) -> None:
    log.add("ALTER_TABLE", "new", **altered("t", packed=packed))
    assert holding(compared, log) == ["u"]


@pytest.mark.parametrize("packed", [False, True])
def test_nothing_holds_of_a_truncated_table_until_its_next_event(compared: Proven, log: Log, packed: bool) -> None:
    """Hive 4.1 logs a truncation before it is committed."""
    log.add("ALTER_TABLE", "t", **altered("t", packed=packed, truncated=True))
    for _ in range(2):
        compared.note(ANNA, T, Comparison(number(compared, log), 7))
        assert holding(compared, log) == ["u"]
        log.add("ADD_PARTITION", "other")
    log.add("UPDATE_TBL_COL_STAT", "t")
    compared.note(ANNA, T, Comparison(number(compared, log), 7))
    assert holding(compared, log) == ["t", "u"]


def test_truncated_tables_that_are_forgotten_do_not_end_later_comparisons(
    compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_log, "_MOST_TABLES", 2)
    log.add("ALTER_TABLE", "gone", **altered("gone", packed=False, truncated=True))
    for each in ("a", "b"):
        log.add("ADD_PARTITION", each)
    assert holding(compared, log) == []
    for scope in (T, U):
        compared.note(ANNA, scope, Comparison(number(compared, log), 7))
    assert holding(compared, log) == ["t", "u"]


def test_all_that_wait_for_the_number_ask_once() -> None:
    log, found, go = Log(), NotificationLog(), threading.Semaphore(0)
    log.add("CREATE_TABLE", "other")
    assert found.number(log) == 1  # type: ignore[arg-type]
    plain = log.call

    def call(name: str, *arguments: Any) -> Any:
        answer = plain(name, *arguments)
        assert go.acquire(timeout=20)
        return answer

    log.call = call  # type: ignore[method-assign]
    log.asked.clear()
    with ThreadPoolExecutor(6) as threads:
        first = threads.submit(found.number, log)  # type: ignore[arg-type]
        wait_until(lambda: len(log.asked) == 1)
        log.add("CREATE_TABLE", "another")
        later = [threads.submit(found.number, log) for _ in range(5)]  # type: ignore[arg-type]
        wait_until(lambda: sum(each.members for each in found._numbers.waiting.values()) == 5)
        go.release(9)
        assert first.result(20) == 1
        assert [each.result(20) for each in later] == [2] * 5
    assert log.asked.count("get_current_notificationEventId") == 2


EVERYTHING: list[Callable[[Log], None]] = [
    lambda log: log.add("DROP_DATABASE", None),
    lambda log: log.add("AN_EVENT_OF_2030", None),
    lambda log: log.add("ALTER_TABLE", "new", message="nobody can read this"),
]


@pytest.mark.parametrize("happens", EVERYTHING)
def test_what_is_not_understood_ends_all_comparisons(
    compared: Proven, log: Log, happens: Callable[[Log], None]
) -> None:
    happens(log)
    assert holding(compared, log) == []


def test_events_that_are_missing_end_all_comparisons(compared: Proven, log: Log) -> None:
    for _ in range(3):
        log.add("ADD_PARTITION", "other")
    del log.events[1]
    assert holding(compared, log) == []


def test_a_log_that_was_cleaned_ends_all_comparisons(compared: Proven, log: Log) -> None:
    log.add("ADD_PARTITION", "other")
    log.add("ADD_PARTITION", "other")
    log.events = log.events[-1:]
    assert holding(compared, log) == []


def test_a_database_or_a_transaction_ends_none(compared: Proven, log: Log) -> None:
    for kind in ("CREATE_DATABASE", "OPEN_TXN", "COMMIT_TXN"):
        log.add(kind, None)
    assert holding(compared, log) == ["t", "u"]


def test_a_comparison_holds_for_a_minute(compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proven, "SECONDS", 0.0)
    assert holding(compared, log) == []


def test_only_so_many_tables_are_remembered(compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification_log, "_MOST_TABLES", 3)
    log.add("ADD_PARTITION", "t")
    for each in range(10):
        log.add("ADD_PARTITION", f"other{each}")
    assert holding(compared, log) == [], "the last event of t is forgotten, so that all that is older may be one"


def test_nothing_is_proven_after_the_log_went_back(compared: Proven, log: Log) -> None:
    """The upstream's database was restored from a backup: its next events have numbers that others had."""
    log.add("ADD_PARTITION", "other")
    assert holding(compared, log) == ["t", "u"]
    log.events.pop()
    assert compared._upstreams.number(log) is None  # type: ignore[arg-type]
    log.add("ADD_PARTITION", "t")
    log.add("ADD_PARTITION", "other")
    assert compared._upstreams.number(log) is None  # type: ignore[arg-type]
    assert compared._upstreams.state_of(T.table) is None


def test_a_log_that_went_back_proves_again_once_older_comparisons_have_ended(
    compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notification_log, "_DOUBT_SECONDS", 0.0)
    log.add("ADD_PARTITION", "other")
    assert holding(compared, log) == ["t", "u"]
    log.events.pop()
    assert number(compared, log) == 1
    log.add("ADD_PARTITION", "u")
    for scope in (T, U):
        compared.note(ANNA, scope, Comparison(number(compared, log), 7))
    log.add("ADD_PARTITION", "t")
    assert holding(compared, log) == ["u"]


@pytest.mark.parametrize("log", [Log(3), Log(listener=""), Log(listener="org.example.AnotherListener")])
def test_a_log_that_proves_nothing_is_not_read(log: Log) -> None:
    assert NotificationLog().number(log) is None  # type: ignore[arg-type]
    assert "get_current_notificationEventId" not in log.asked


def test_a_log_that_may_not_be_read_is_asked_once() -> None:
    class Closed(Log):
        def call(self, name: str, *arguments: Any) -> Any:
            if name == "get_current_notificationEventId":
                self.asked.append(name)
                raise CallRefused(name, "TApplicationException", "Internal error")
            return super().call(name, *arguments)

    log, found = Closed(), NotificationLog()
    for _ in range(2):
        assert found.number(log) is None  # type: ignore[arg-type]
    assert log.asked.count("get_current_notificationEventId") == 1


def test_a_log_that_could_not_be_read_for_a_moment_is_read_again(
    compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = log.call

    def fails(name: str, *arguments: Any) -> Any:
        if name == "get_next_notification":
            raise CallRefused(name, "MetaException", "the connection to the database was lost")
        return plain(name, *arguments)

    log.add("ADD_PARTITION", "u")
    log.call = fails  # type: ignore[method-assign]
    assert compared._upstreams.number(log) is None  # type: ignore[arg-type]
    log.call = plain  # type: ignore[method-assign]
    assert compared._upstreams.number(log) is None, "it is left alone for a minute"  # type: ignore[arg-type]
    monkeypatch.setattr(notification_log, "_ASKED_SECONDS", 0.0)
    assert holding(compared, log) == ["t"]


def test_a_log_that_is_switched_off_proves_nothing_any_more(
    compared: Proven, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upstream was started again without its listener: its last number stays, whatever changes."""
    monkeypatch.setattr(notification_log, "_ASKED_SECONDS", 0.0)
    assert holding(compared, log) == ["t", "u"]
    log._listener = ""
    assert compared._upstreams.number(log) is None  # type: ignore[arg-type]

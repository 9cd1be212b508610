"""When tables with mirrors are looked at, and that what could not be looked at is tried again soon."""

from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.statistics import looking
from hmstats.gateway.statistics.looking import Looking
from hmstats.gateway.statistics.mirroring import CHANGING
from hmstats.gateway.statistics.statistics_calls import StatisticsScope
from hmstats.model.catalog.objects import TableName

T, U = (TableName("hive", "d", each) for each in ("t", "u"))


class Mirrors:
    """Two tables without partitions; `reasons` says why one is left to the upstream."""

    def __init__(self) -> None:
        self.looked: list[str] = []
        self.reasons: dict[TableName, str] = {}
        self.tables = SimpleNamespace(names=lambda: [T, U], find=lambda name: SimpleNamespace(partition_keys=()))

    def reason_left(self, _: Any, scope: StatisticsScope) -> str | None:
        self.looked.append(scope.table.table)
        return self.reasons.get(scope.table)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    found = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(looking, "time", SimpleNamespace(monotonic=lambda: found.now))
    return found


def run(found: Looking, mirrors: Mirrors) -> list[str]:
    """The tables that are looked at now."""
    mirrors.looked.clear()
    found.run(lambda: None)  # type: ignore[arg-type, return-value]
    return list(mirrors.looked)


def test_nobody_is_looked_at_until_somebody_asks_and_then_once_an_hour(clock: Any) -> None:
    mirrors = Mirrors()
    found = Looking(mirrors)  # type: ignore[arg-type]
    assert run(found, mirrors) == []
    found.note_asked()
    assert run(found, mirrors) == ["t", "u"]
    clock.now += 3_000
    assert run(found, mirrors) == []
    clock.now += 1_000
    assert run(found, mirrors) == ["t", "u"]
    clock.now += 90_000
    assert run(found, mirrors) == [], "nobody has asked for a day"


def test_a_table_that_is_being_changed_is_looked_at_again_soon(clock: Any) -> None:
    mirrors = Mirrors()
    found = Looking(mirrors)  # type: ignore[arg-type]
    found.note_asked()
    mirrors.reasons = {T: CHANGING, U: "it is a view"}
    assert run(found, mirrors) == ["t", "u"]
    assert run(found, mirrors) == []
    for _ in range(2):
        clock.now += 6
        assert run(found, mirrors) == ["t"]
    mirrors.reasons = {}
    clock.now += 6
    assert run(found, mirrors) == ["t"]
    clock.now += 6
    assert run(found, mirrors) == []


def test_all_are_looked_at_when_the_upstream_is_there_again(clock: Any) -> None:
    mirrors = Mirrors()
    found = Looking(mirrors)  # type: ignore[arg-type]
    found.note_asked()

    def away() -> Any:
        raise UpstreamUnavailable("away")

    with capture_logs() as logs:
        for _ in range(3):
            found.run(away)
            clock.now += 6
    assert [(each["event"], each["reason"]) for each in logs] == [("looking_waits", "away")]
    assert run(found, mirrors) == ["t", "u"]

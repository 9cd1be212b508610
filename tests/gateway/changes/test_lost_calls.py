"""Calls under way of which nobody knows any more, beside gateways whose clocks are hours apart."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from hmstats.gateway.changes import following as following_module
from hmstats.gateway.changes.following import Following
from hmstats.model.catalog.objects import TableName
from hmstats.service.mirrors.claims import MirrorClaims
from hmstats.service.mirrors.mirrored_tables import MirroredTables
from hmstats.store.database.store import Store
from hmstats.store.mirrors import calls
from hmstats.store.mirrors.calls import CallUnderWay
from hmstats.store.opening import open_store

TABLE = TableName("hive", "d", "t")
PATIENCE_SECONDS = 665.0


class Clock:
    """Both clocks of a process; `ahead` is the error of the one that tells the time of day."""

    def __init__(self) -> None:
        self.passed = 0.0
        self.ahead = 0.0

    def monotonic(self) -> float:
        return 50.0 + self.passed

    def time(self) -> float:
        return 1_700_000_000.0 + self.passed + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(following_module, "time", made)
    return made


@pytest.fixture
def store(sqlite_url: str) -> Iterator[Store]:
    with closing(open_store(sqlite_url, pool_size=1, statement_seconds=10)) as opened:
        yield opened


def under_way(store: Store) -> list[CallUnderWay]:
    with store.read() as connection:
        return calls.listed(connection)


@pytest.mark.parametrize("ahead_hours", [-5, 0, 5])
def test_a_call_is_lost_when_it_was_seen_for_long(store: Store, clock: Clock, ahead_hours: int) -> None:
    store.write(lambda unit: calls.begin(unit, "call", [TABLE]))
    clock.ahead = ahead_hours * 3600 + (1_800_000_000.0 - 1_700_000_000.0)
    watching = Following(store, MirroredTables(store), MirrorClaims(store), PATIENCE_SECONDS)
    watching.end_lost_calls()
    clock.passed += PATIENCE_SECONDS - 1
    watching.end_lost_calls()
    assert [each.subject for each in under_way(store)] == [TABLE]
    clock.passed += 1
    watching.end_lost_calls()
    assert under_way(store) == []

"""A server's clock that jumps, forwards and back, for minutes and for decades: times are wrong then, nothing else is.

HMSTATS_TEST_CLOCK_JUMPS says how often.
"""

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.harness.worker_processes import metastore_of
from tests.faults.harness.writers import Writer, go_on, summary, writing
from tests.fixtures.metastores import Metastore

from hmstats.server.assembly import Rules, build
from hmstats.server.limits import Limits
from hmstats.service.notifications import NotificationLog
from hmstats.service.warehouse.warehouse import Warehouse
from hmstats.store.database.store import Store
from hmstats.wire.idl import hive_metastore as api

JUMPS = int(os.environ.get("HMSTATS_TEST_CLOCK_JUMPS", "20"))
HOUR_SECONDS, DAY_SECONDS, YEAR_SECONDS = 3_600, 86_400, 365 * 86_400
KEEPING_ALL = Rules(notification_retention_hours=200 * 365 * 24.0)
"""The server cleans every minute by the clock that jumps: on a slow machine it would remove events."""
LAST_SECOND = 2**31 - 1


@dataclass
class Clock:
    """A clock that goes on from wherever it was put."""

    ahead_seconds: float = 0.0
    seed: random.Random = field(default_factory=lambda: random.Random(1))

    def __call__(self) -> float:
        """The time that it shows, in epoch seconds."""
        return time.time() + self.ahead_seconds

    def jump(self) -> None:
        """Go anywhere: within an hour, ten days, or eighty years of the right time."""
        widest = self.seed.choice((HOUR_SECONDS, 10 * DAY_SECONDS, 80 * YEAR_SECONDS))
        self.ahead_seconds = self.seed.uniform(-widest, widest)


@dataclass
class Served:
    """A server in this process, its store and its clock."""

    metastore: Metastore
    store: Store
    clock: Clock


@pytest.fixture
def served(database_url: str, tmp_path: Path) -> Iterator[Served]:
    clock = Clock()
    store = Store.open(database_url, clock=clock)
    server = build(store, Warehouse(str(tmp_path / "warehouse")), ("127.0.0.1", 0), Limits(), KEEPING_ALL)
    with metastore_of(server.start()[1]) as metastore:
        yield Served(metastore, store, clock)
    server.stop(0)
    store.close()


def test_a_clock_that_jumps_in_the_middle_of_writes(served: Served) -> None:
    metastore = served.metastore
    first = metastore.client().get_current_notificationEventId().eventId
    with writing(metastore, 2) as writers:
        for _ in range(JUMPS):
            served.clock.jump()
            go_on(writers)
            for writer in writers:
                writer.check()
    refusals = [each for writer in writers for each in writer.refusals]
    assert not refusals
    _check_log(metastore, first, writers)
    print(f"{JUMPS} times the clock jumped; {summary(writers)}")


def _check_log(metastore: Metastore, first: int, writers: list[Writer]) -> None:
    """Events are in order, without a gap, and none is missing, whatever time they say."""
    asked = api.NotificationEventRequest(lastEvent=first, maxEvents=-1)
    events = metastore.client().get_next_notification(asked).events
    ids = [each.eventId for each in events]
    assert ids == list(range(first + 1, first + 1 + len(ids)))
    assert all(0 <= each.eventTime <= LAST_SECOND for each in events)
    assert len(ids) >= sum(writer.answers for writer in writers)


@pytest.mark.parametrize("ahead_seconds", [80 * YEAR_SECONDS, -80 * YEAR_SECONDS])
def test_what_is_made_at_an_impossible_time_can_be_read(served: Served, ahead_seconds: float) -> None:
    """The API's times have 32 bits and end in 2038."""
    metastore = served.metastore
    served.clock.ahead_seconds = ahead_seconds
    metastore.client().create_database(api.Database(name=metastore.database))
    metastore.table(keys=("k",))
    metastore.add_partitions(("a",))
    edge = LAST_SECOND if ahead_seconds > 0 else 0
    assert metastore.read_table().createTime == edge
    (partition,) = metastore.client().get_partitions(metastore.database, "t", -1)
    assert partition.createTime == edge
    assert partition.parameters["transient_lastDdlTime"] == str(edge)


def test_events_outlive_a_clock_that_was_ahead_for_a_while(served: Served) -> None:
    """Cleaning goes by the clock of the server that cleans; what a later, earlier time wrote stays in order."""
    metastore, log = served.metastore, NotificationLog(served.store)
    client = metastore.client()
    served.clock.ahead_seconds = YEAR_SECONDS
    client.create_database(api.Database(name="ahead"))
    served.clock.ahead_seconds = 0
    client.create_database(api.Database(name="now"))
    assert log.remove_older(DAY_SECONDS) == 0
    served.clock.ahead_seconds = 3 * DAY_SECONDS
    assert log.remove_older(DAY_SECONDS) == 0, "an event of a wrong time keeps those behind it"
    served.clock.ahead_seconds = YEAR_SECONDS + 3 * DAY_SECONDS
    assert log.remove_older(DAY_SECONDS) >= 2

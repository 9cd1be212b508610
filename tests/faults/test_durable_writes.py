"""Plain writes beside crashes of the database: what was answered is there, and the next write succeeds."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select
from tests.faults.harness.database_process import Postgres, postgres
from tests.service.statistics.filled import NAME, make_table
from tests.service.statistics.writing.test_writes_as_left import longs

from hmstats.model.events import Notification
from hmstats.service.statistics.writing import last_written
from hmstats.service.statistics.writing.write import StatisticsWriter
from hmstats.store.database.store import Store, database_url
from hmstats.store.migration import migrate
from hmstats.store.schema import NOTIFICATION_LOG, TAB_COL_STATS

KILLS = 4


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A PostgreSQL whose log goes to the disk by a flush alone: its own writer comes every ten seconds."""
    with postgres("-c wal_writer_delay=10s") as found:
        migrate.upgrade(found.url)
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("expects", [True, False])
def test_what_was_answered_survives_a_crash(
    database: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, expects: bool
) -> None:
    monkeypatch.setattr(last_written, "_SETTLED_WRITES", 2 if expects else 1_000_000)
    with contextlib.closing(Store.open(database.url)) as store:
        store.enable_log(lambda event, _seconds: Notification(type(event).__name__, "hive", "default", "t", "", "f"))
        make_table(store, tmp_path, [1])
        plain, numbers = StatisticsWriter(store).plain, itertools.count(1)
        for kill in range(KILLS):
            for _ in range(3 + kill):
                written = next(numbers)
                assert plain.write(NAME, longs(None, ndv=written), of_table=True)
            database.kill()
            database.start()
            assert _stored(database.url) == written


def _stored(url: str) -> int:
    """The stored number, of which the log has an event for each write, without a gap."""
    engine = create_engine(database_url(url))
    with engine.connect() as connection:
        found = connection.execute(select(TAB_COL_STATS.c.NUM_DISTINCTS)).scalar_one()
        events = connection.execute(
            select(NOTIFICATION_LOG.c.EVENT_ID, NOTIFICATION_LOG.c.EVENT_TYPE).order_by(NOTIFICATION_LOG.c.EVENT_ID)
        ).all()
    engine.dispose()
    assert [each.EVENT_ID for each in events] == [*range(1, len(events) + 1)]
    assert sum(each.EVENT_TYPE == "StatisticsUpdated" for each in events) == found
    return int(found)

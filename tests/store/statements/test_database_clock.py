"""The database's clock."""

import time

from sqlalchemy import select

from hmstats.store.database.store import Store
from hmstats.store.statements.database_clock import now_ms


def test_it_counts_milliseconds_since_1970(store: Store) -> None:
    """The databases of these tests run on this machine."""
    with store.read() as connection:
        before = time.time_ns() // 1_000_000
        found = connection.execute(select(now_ms(connection))).scalar_one()
        after = time.time_ns() // 1_000_000
    assert isinstance(found, int)
    assert before - 1 <= found <= after + 1


def test_it_goes_on_within_a_transaction(store: Store) -> None:
    """Who had to wait for another knows how late it is."""
    with store.read() as connection:
        first = connection.execute(select(now_ms(connection))).scalar_one()
        time.sleep(0.01)
        assert connection.execute(select(now_ms(connection))).scalar_one() > first

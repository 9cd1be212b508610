"""Counts of Hive's queries beside a Hive, whose older schemas have no table for them."""

import pytest

from hmstats.errors import MetaError
from hmstats.service.statistics.runtime_stats import RuntimeStats
from hmstats.store.migration import migrate
from hmstats.store.opening import open_store


def test_beside_a_hive(hive_database: str, hive_generation: str) -> None:
    migrate.adopt(hive_database)
    store = open_store(hive_database, pool_size=1, statement_seconds=30)
    stats = RuntimeStats(store)
    try:
        if hive_generation >= "4.0":
            stats.add(1, b"x")
            assert [each.payload for each in stats.newest(10, 0)] == [b"x"]
        else:
            with pytest.raises(MetaError):
                stats.add(1, b"x")
            assert stats.newest(10, 0) == []
            assert stats.remove_older(10) == 0
    finally:
        store.close()

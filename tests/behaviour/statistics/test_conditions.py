"""Changes that are made only if the table has a version: what was written meanwhile is never written over."""

from collections.abc import Callable
from threading import Thread
from time import sleep
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore

from hmstats.client import connect
from hmstats.client.metastore import Metastore as Client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject

THREADS, TIMES = 4, 10
Change = Callable[[Client, str, int], Any]


@pytest.fixture
def ours(our_metastore: Metastore) -> Client:
    made = connect(f"thrift://127.0.0.1:{our_metastore.port}")
    our_metastore.clients.callback(made.close)
    return made


def locked(table: str) -> LockedObject:
    database, name = table.split(".")
    return LockedObject(DatabaseName("hive", database), name)


def longs(high: int) -> StatisticsSet:
    return StatisticsSet((ColumnStatistics("l", "bigint", LongStatistics(low=0, high=high, nulls=0, ndv=10)),))


CHANGES: dict[str, Change] = {
    "lock": lambda ours, table, version: ours.locks.lock(locked(table), if_version=version),
    "unlock": lambda ours, table, version: ours.locks.unlock(locked(table), if_version=version),
    "publish": lambda ours, table, version: ours.pending.publish(table, if_version=version),
    "reject": lambda ours, table, version: ours.pending.reject(table, if_version=version),
    "restore": lambda ours, table, version: ours.past.restore(
        table, ours.past.history(table).writes[-1].at_ms, if_version=version
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_refused_when_the_table_was_written(our_metastore: Metastore, ours: Client, name: str) -> None:
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    for high in (1, 3):
        ours.put_table_statistics(table, longs(high))
        sleep(0.01)  # a time of its own, to which it can be restored
    ours.preferences.change(Subject(DatabaseName("hive", our_metastore.database), "t"), {"publish": "false"})
    ours.put_table_statistics(table, longs(2))
    before = ours.pending.of_table(table).version
    assert before is not None
    ours.put_table_parameters(table, {"noted": "meanwhile"})
    with pytest.raises(CallRefused, match=f"{table} has changed: expected version {before}, found {before + 1}"):
        CHANGES[name](ours, table, before)
    assert ours.pending.of_table(table).version == before + 1
    assert (len(ours.pending.of_table(table).sets), ours.locks.listed(our_metastore.database)) == (1, [])
    CHANGES[name](ours, table, before + 1)
    assert ours.pending.of_table(table).version != before + 1


def test_a_version_is_that_of_a_table(our_metastore: Metastore, ours: Client) -> None:
    of_database = LockedObject(DatabaseName("hive", our_metastore.database))
    with pytest.raises(CallRefused, match="a version must be that of a table"):
        ours.locks.lock(of_database, if_version=1)


def test_of_clients_that_race_none_writes_over_another(our_metastore: Metastore) -> None:
    """Each raises the number in the reason of a lock by one: every raise that was accepted must be in it at the end."""
    our_metastore.table()
    table = f"{our_metastore.database}.t"
    uris = f"thrift://127.0.0.1:{our_metastore.port}"
    with connect(uris) as first:
        first.locks.lock(locked(table), reason="0")
    accepted, refused, errors = list[int](), list[str](), list[Exception]()

    def race() -> None:
        try:
            with connect(uris) as mine:
                for _ in range(TIMES):
                    version = mine.pending.of_table(table).version
                    (lock,) = mine.locks.listed(our_metastore.database, "t")
                    try:
                        mine.locks.lock(locked(table), reason=str(int(lock.reason or 0) + 1), if_version=version)
                    except CallRefused as error:
                        refused.append(error.message)
                    else:
                        accepted.append(1)
        except Exception as error:  # noqa: BLE001 - told by the test
            errors.append(error)

    threads = [Thread(target=race) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert errors == []
    assert len(accepted) + len(refused) == THREADS * TIMES
    assert all("has changed: expected version" in each for each in refused)
    with connect(uris) as last:
        (lock,) = last.locks.listed(our_metastore.database, "t")
    assert lock.reason == str(len(accepted))

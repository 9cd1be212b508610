"""Writers of the same statistics at the same time: one row a column, whole sets, and no merge is lost."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.behaviour.structs import STRUCTS, of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore

from hmstats.wire.idl import hive_metastore as api

WRITERS = 6
PARTITIONS = [f"k={letter}" for letter in "abcdefgh"]


@pytest.fixture(autouse=True)
def _tables(our_metastore: Metastore) -> None:
    our_metastore.table()
    our_metastore.table("p", keys=("k",))
    our_metastore.add_partitions(*((letter,) for letter in "abcdefgh"), table="p")


def _together(write: Callable[[int], None]) -> None:
    """Run `write` for each writer's number at once; an error of any is raised."""
    ready = threading.Barrier(WRITERS)

    def run(number: int) -> None:
        ready.wait()
        write(number)

    with ThreadPoolExecutor(WRITERS) as threads:
        list(threads.map(run, range(WRITERS)))


def _of_all(metastore: Metastore, number: int, **changed: Any) -> list[Any]:
    """Statistics of every partition, each writer's in an order of its own."""
    order = PARTITIONS[number:] + PARTITIONS[:number]
    objects = [statistics_of("l", **changed), statistics_of("s", **changed)]
    return [statistics(metastore, *objects, partition=each, table="p") for each in order[:: -1 if number % 2 else 1]]


def _set(metastore: Metastore, sets: list[Any], *, merge: bool = False) -> None:
    request = api.SetPartitionsStatsRequest(colStats=sets, needMerge=merge)
    assert metastore.client().set_aggr_stats_for(request)


def test_writers_of_one_empty_column_leave_one_row(our_metastore: Metastore) -> None:
    """Hive before 4 leaves a row for each (HIVE-25904), and answers with all of them."""

    def write(number: int) -> None:
        sent = statistics(
            our_metastore, *(statistics_of(column) for column in STRUCTS), statistics_of("l", numDVs=number)
        )
        assert our_metastore.client().update_table_column_statistics(sent)

    _together(write)
    request = api.TableStatsRequest(dbName=our_metastore.database, tblName="t", colNames=list(STRUCTS))
    found = our_metastore.client().get_table_statistics_req(request).tableStats
    assert sorted(each.colName for each in found) == sorted(STRUCTS)
    assert of_table(our_metastore, "l")["l"].longStats.numDVs in range(WRITERS)


def test_every_engine_has_its_own_row(our_metastore: Metastore) -> None:
    def write(number: int) -> None:
        sent = statistics(our_metastore, statistics_of("l", numDVs=number))
        sent.engine = f"engine{number}"
        assert our_metastore.client().update_table_column_statistics(sent)

    _together(write)
    found = [of_table(our_metastore, "l", engine=f"engine{number}")["l"].longStats.numDVs for number in range(WRITERS)]
    assert found == list(range(WRITERS))


def test_a_call_for_many_partitions_is_kept_whole(our_metastore: Metastore) -> None:
    """The writers name the partitions in different orders, which would be a deadlock if they were taken in these."""
    _together(lambda number: _set(our_metastore, _of_all(our_metastore, number, numDVs=100 + number)))
    request = api.PartitionsStatsRequest(
        dbName=our_metastore.database, tblName="p", colNames=["l", "s"], partNames=PARTITIONS
    )
    found = our_metastore.client().get_partitions_statistics_req(request).partStats
    assert sorted(found) == PARTITIONS
    data = [each.statsData for objects in found.values() for each in objects]
    assert len(data) == 2 * len(PARTITIONS)
    assert len({(each.longStats or each.stringStats).numDVs for each in data}) == 1


def test_no_merge_is_lost(our_metastore: Metastore) -> None:
    def write(number: int) -> None:
        for _ in range(3):
            _set(our_metastore, _of_all(our_metastore, number, numNulls=1), merge=True)
            _set(our_metastore, [statistics(our_metastore, statistics_of("l", numNulls=1))], merge=True)

    _together(write)
    assert of_table(our_metastore, "l")["l"].longStats.numNulls == 3 * WRITERS
    request = api.PartitionsStatsRequest(
        dbName=our_metastore.database, tblName="p", colNames=["l", "s"], partNames=PARTITIONS
    )
    found = our_metastore.client().get_partitions_statistics_req(request).partStats
    nulls = [
        (each.statsData.longStats or each.statsData.stringStats).numNulls for sets in found.values() for each in sets
    ]
    assert nulls == [3 * WRITERS] * 2 * len(PARTITIONS)


def test_marks_of_several_writers_are_all_kept(our_metastore: Metastore) -> None:
    columns = list(STRUCTS)[:WRITERS]

    def write(number: int) -> None:
        sent = statistics(our_metastore, statistics_of(columns[number]))
        assert our_metastore.client().update_table_column_statistics(sent)

    _together(write)
    marks = ",".join(f'"{column}":"true"' for column in sorted(columns))
    assert our_metastore.parameters()["COLUMN_STATS_ACCURATE"] == f'{{"COLUMN_STATS":{{{marks}}}}}'


def test_a_reader_sees_all_of_a_call_or_nothing(our_metastore: Metastore) -> None:
    done = threading.Event()
    seen: list[set[int]] = []
    _set(our_metastore, _of_all(our_metastore, 0, numDVs=0))

    def read() -> None:
        while not done.is_set():
            request = api.PartitionsStatsRequest(
                dbName=our_metastore.database, tblName="p", colNames=["l"], partNames=PARTITIONS
            )
            found = reader.get_partitions_statistics_req(request).partStats
            seen.append({each.statsData.longStats.numDVs for objects in found.values() for each in objects})

    reader = our_metastore.client()
    thread = threading.Thread(target=read)
    thread.start()
    for number in range(1, 15):
        _set(our_metastore, _of_all(our_metastore, number % WRITERS, numDVs=number))
    done.set()
    thread.join()
    assert seen
    assert all(len(each) == 1 for each in seen)

"""One writer on each of a Hive and ours: whatever one has answered to its writer, both show to every later reader."""

import random
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tests.behaviour.coherence.histories import Register
from tests.behaviour.structs import statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import Pair

from hmstats.wire.idl import hive_metastore as api

SECONDS = 4.0
READERS = 2


def test_no_read_is_stale(hive_and_ours: Pair) -> None:
    hive, ours = hive_and_ours.both
    written = {"theirs": hive, "mine": ours}
    for name in written:
        hive.table(name)
        hive.client().update_table_column_statistics(_numbered(hive, name, 0))
    registers = {name: Register.holding(0) for name in written}
    ended = threading.Event()
    work: list[Callable[[], None]] = [
        *(partial(_write, written[name], name, register, ended) for name, register in registers.items()),
        *(partial(_read, each, registers, ended) for each in hive_and_ours.both * READERS),
    ]
    with ThreadPoolExecutor(len(work)) as threads:
        running = [threads.submit(each) for each in work]
        time.sleep(SECONDS)
        ended.set()
        for each in running:
            each.result()
    assert {name: each.untrue() for name, each in registers.items()} == {"theirs": [], "mine": []}
    assert all(len(each.writes) > 3 and len(each.reads) > 20 for each in registers.values())


def _numbered(metastore: Metastore, table: str, number: int) -> Any:
    return statistics(metastore, statistics_of("l", numDVs=number), table=table)


def _write(metastore: Metastore, table: str, register: Register, ended: threading.Event) -> None:
    client, number = metastore.client(), 0
    while not ended.is_set():
        number += 1
        with register.writing(number):
            client.update_table_column_statistics(_numbered(metastore, table, number))


def _read(metastore: Metastore, registers: dict[str, Register], ended: threading.Event) -> None:
    client = metastore.client()
    while not ended.is_set():
        table, register = random.choice(list(registers.items()))
        register.reading(partial(_distinct, client, metastore.database, table))


def _distinct(client: Any, database: str, table: str) -> Hashable:
    wanted = api.TableStatsRequest(dbName=database, tblName=table, colNames=["l"])
    (found,) = client.get_table_statistics_req(wanted).tableStats
    return int(found.statsData.longStats.numDVs)

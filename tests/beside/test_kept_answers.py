"""Where a Hive logs its changes in their own transactions, ours keep answers beside it, and none of them is stale.

Each thing that is read has one writer, which writes through Hive and through ours in turn. Readers ask two of ours,
which keep what they answer, and Hive. They do not ask Hive about tables that are renamed meanwhile or made again: it
looks at a table and at its statistics at two moments.
"""

import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.coherence.histories import Register
from tests.behaviour.structs import of_table, statistics, statistics_of
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import Pair
from tests.fixtures.servers import serving

from hmstats.wire.idl import hive_metastore as api

SECONDS, MOST_SECONDS = 6.0, 90.0
REPEATED = 5
"""So often is a question asked in a row: most answers are not kept for long."""
COLUMNS = {"l": "bigint", "s": "string"}
PARTITIONS = ["k=a", "k=b", "k=c"]
PLAIN = ("theirs", "mine", "both")
ABSENT, EMPTY = "no such table", "no statistics"
KEPT = '"outcome": "cached"'
DATABASE = "kept"

pytestmark = pytest.mark.parametrize("logging_pair", ["4.0"], indirect=True)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The log of the second of ours."""
    return tmp_path / "server.log"


@pytest.fixture
def metastores(logging_pair: Pair, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Hive, ours, and another of ours that logs every call; all have one database, which is dropped at the end."""
    settings = {"statistics_from_partitions": False, "log_level": "debug", "workers": 1}
    with serving(tmp_path, hive_site=logging_pair.site, settings=settings) as port:
        ports = (logging_pair.hive.port, logging_pair.ours.port, port)
        hive, ours, second = (Metastore("", each, 4.0, DATABASE) for each in ports)
        with hive.clients, ours.clients, second.clients:
            hive.client().create_database(api.Database(name=DATABASE, description="", parameters={}))
            yield [hive, ours, second]
            hive.client().drop_database(DATABASE, True, True)


def test_no_read_is_stale(metastores: list[Metastore], log: Path) -> None:
    registers = _filled(metastores[0])
    ended = threading.Event()
    work: list[Callable[[], None]] = [
        partial(_write_table, metastores[:1], "theirs", registers["theirs"], ended),
        partial(_write_table, metastores[1:], "mine", registers["mine"], ended),
        partial(_write_table, metastores, "both", registers["both"], ended),
        partial(_write_partitions, metastores, registers["p"], ended),
        partial(_rename, metastores, registers, ended),
        partial(_make_again, metastores, registers["again"], ended),
        *[partial(_read, metastores, registers, ended)] * 4,
    ]
    with ThreadPoolExecutor(len(work)) as threads:
        running = [threads.submit(each) for each in work]
        _wait(lambda: all(map(_is_tried, registers.values())) and log.read_text().count(KEPT) > 20)
        ended.set()
        for each in running:
            each.result()
    assert {name: each.untrue() for name, each in registers.items()} == {name: [] for name in registers}


def test_what_hive_does_to_one_table_leaves_the_answers_of_others(metastores: list[Metastore], log: Path) -> None:
    hive, _, ours = metastores
    _filled(hive)
    for name in ("theirs", "mine"):
        assert of_table(ours, "l", table=name)["l"].longStats.numDVs == 0
    kept = log.read_text().count(KEPT)
    hive.client().update_table_column_statistics(_numbered(hive, "theirs", 1))
    assert of_table(ours, "l", table="mine")["l"].longStats.numDVs == 0
    assert log.read_text().count(KEPT) == kept + 1
    assert of_table(ours, "l", table="theirs")["l"].longStats.numDVs == 1
    assert log.read_text().count(KEPT) == kept + 1


def _filled(hive: Metastore) -> dict[str, Register]:
    """What is read, every table of it made by Hive."""
    plain = (*PLAIN, "before", "again")
    for name in plain:
        hive.table(name, COLUMNS)
        hive.client().update_table_column_statistics(_numbered(hive, name, 0))
    hive.table("p", COLUMNS, keys=("k",))
    hive.add_partitions(*([name[2:]] for name in PARTITIONS), table="p", columns=COLUMNS)
    hive.client().set_aggr_stats_for(_of_partitions(hive, 0))
    registers = {name: Register.holding(0) for name in plain}
    return registers | {"p": Register.holding((0, 0, 0)), "after": Register.holding(ABSENT)}


def _wait(enough: Callable[[], bool]) -> None:
    """Return after some seconds, or later when the machine is so slow that not enough has happened by then."""
    began = time.monotonic()
    while time.monotonic() < began + SECONDS or not enough():
        assert time.monotonic() < began + MOST_SECONDS, "too little has happened"
        time.sleep(0.5)


def _is_tried(register: Register) -> bool:
    return len(register.writes) > 5 and len(register.reads) > 20


def _numbered(metastore: Metastore, table: str, number: int) -> Any:
    return statistics(metastore, statistics_of("l", numDVs=number), table=table)


def _of_partitions(metastore: Metastore, number: int) -> Any:
    numbered = statistics_of("l", numDVs=number)
    sets = [statistics(metastore, numbered, partition=name, table="p") for name in PARTITIONS]
    return api.SetPartitionsStatsRequest(colStats=sets)


def _write_table(metastores: list[Metastore], table: str, register: Register, ended: threading.Event) -> None:
    clients, number = [each.client() for each in metastores], 0
    while not ended.is_set():
        number += 1
        with register.writing(number):
            random.choice(clients).update_table_column_statistics(_numbered(metastores[0], table, number))
        _pause()


def _write_partitions(metastores: list[Metastore], register: Register, ended: threading.Event) -> None:
    clients, number = [each.client() for each in metastores], 0
    while not ended.is_set():
        number += 1
        with register.writing((number,) * len(PARTITIONS)):
            random.choice(clients).set_aggr_stats_for(_of_partitions(metastores[0], number))
        _pause()


def _rename(metastores: list[Metastore], registers: dict[str, Register], ended: threading.Event) -> None:
    clients, here, there = [each.client() for each in metastores], "before", "after"
    while not ended.is_set():
        table = metastores[1].read_table(here)
        table.tableName = there
        with registers[here].writing(ABSENT), registers[there].writing(0):
            random.choice(clients).alter_table(DATABASE, here, table)
        here, there = there, here
        _pause()


def _make_again(metastores: list[Metastore], register: Register, ended: threading.Event) -> None:
    clients, number = [each.client() for each in metastores], 0
    while not ended.is_set():
        number += 1
        with register.writing(ABSENT):
            random.choice(clients).drop_table(DATABASE, "again", True)
        with register.writing(EMPTY):
            random.choice(metastores).table("again", COLUMNS)
        with register.writing(number):
            random.choice(clients).update_table_column_statistics(_numbered(metastores[0], "again", number))
        _pause()


def _read(metastores: list[Metastore], registers: dict[str, Register], ended: threading.Event) -> None:
    hive, ours, second = (each.client() for each in metastores)
    while not ended.is_set():
        name, register = random.choice(list(registers.items()))
        client = random.choice((hive, *(ours, second) * 4) if name in PLAIN else (ours, second))
        read = partial(_read_partitions if name == "p" else _read_table, client, name)
        for _ in range(REPEATED):
            register.reading(read)


def _read_table(client: Any, table: str) -> Hashable:
    wanted = api.TableStatsRequest(dbName=DATABASE, tblName=table, colNames=["l"])
    try:
        found = client.get_table_statistics_req(wanted).tableStats
    except api.NoSuchObjectException:
        return ABSENT
    return int(found[0].statsData.longStats.numDVs) if found else EMPTY


def _read_partitions(client: Any, table: str) -> Hashable:
    wanted = api.PartitionsStatsRequest(dbName=DATABASE, tblName=table, colNames=["l"], partNames=PARTITIONS)
    found = client.get_partitions_statistics_req(wanted).partStats
    return tuple(found[each][0].statsData.longStats.numDVs for each in PARTITIONS)


def _pause() -> None:
    """Long enough for readers to meet the same answer more than once."""
    time.sleep(random.uniform(0.01, 0.2))

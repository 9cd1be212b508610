"""Servers over one database: whatever one has answered to a writer, all show to every later reader.

Writers change statistics, partitions' statistics, a table's name, and a table that is dropped and made again, while
readers ask both servers the same few questions, most of which are answered from what the servers keep. A second test
has many partitions, which change one by one, get other names, and go and come, under questions that are always new:
they are put together from what the servers keep of each partition.
"""

import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.behaviour.coherence.histories import Event, Register
from tests.behaviour.structs import column_object
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving

from hmstats.wire.idl import hive_metastore as api

SECONDS = 4.0
PATIENCE_SECONDS = 60.0
PARTITIONS = ["k=a", "k=b", "k=c"]
ABSENT, EMPTY, THERE = "no such table", "no statistics", 7


class Pair:
    """One thread's connections to both servers."""

    def __init__(self, servers: list[Metastore], seed: int) -> None:
        self._clients = [each.client() for each in servers]
        self._random = random.Random(seed)

    @property
    def any(self) -> Any:
        """One of the two connections."""
        return self._random.choice(self._clients)

    def one_of(self, registers: dict[str, Register]) -> tuple[str, Register]:
        """One of the registers, by name."""
        return self._random.choice(list(registers.items()))


@pytest.fixture(params=["two", "alone"])
def servers(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Iterator[list[Metastore]]:
    """Two, with tables `t`, `p` with partitions, `before` and `d`, and a log of every call.

    Or one that has the database alone, in the place of both.
    """
    alone = {"workers": 1, "exclusive": True} if request.param == "alone" else {}
    with ExitStack() as stack:
        ports = []
        for number in range(1 if alone else 2):
            folder = tmp_path / f"server-{number}"
            folder.mkdir()
            settings = {"log_level": "debug", **alone}
            ports.append(stack.enter_context(serving(folder, database=database_url, settings=settings)))
        both = [Metastore(f"hmstats-{number}", port, 4.0, "coherence") for number, port in enumerate(ports)]
        for each in both:
            stack.enter_context(each.clients)
        _fill(both[0])
        yield both


def _fill(server: Metastore) -> None:
    client = server.client()
    client.create_database(api.Database(name=server.database, description="", parameters={}))
    for name, keys in (("t", []), ("p", ["k"]), ("before", []), ("d", [])):
        server.table(name, {"a": "bigint", "b": "bigint"}, keys=keys)
    server.add_partitions(*([name[2:]] for name in PARTITIONS), table="p", columns={"a": "bigint", "b": "bigint"})
    for table in ("t", "before"):
        for column in ("a", "b"):
            client.update_table_column_statistics(_statistics(table, column, 0 if table == "t" else THERE))
    client.set_aggr_stats_for(_of_partitions(0))


def _statistics(table: str, column: str, number: int, partition: str | None = None) -> Any:
    data = api.LongColumnStatsData(numNulls=0, numDVs=number)
    description = api.ColumnStatisticsDesc(
        isTblLevel=partition is None, dbName="coherence", tableName=table, partName=partition
    )
    return api.ColumnStatistics(statsDesc=description, statsObj=[column_object(column, "bigint", "longStats", data)])


def _run(
    servers: list[Metastore],
    work: Sequence[Callable[[Pair], None]],
    ended: threading.Event,
    is_enough: Callable[[], bool],
) -> None:
    """Do all of it at once, each with connections of its own: for a while, and until there is enough to check."""
    with ThreadPoolExecutor(len(work)) as threads:
        running = [threads.submit(each, Pair(servers, seed)) for seed, each in enumerate(work)]
        began = time.monotonic()
        time.sleep(SECONDS)
        while not is_enough() and time.monotonic() < began + PATIENCE_SECONDS:
            time.sleep(1.0)
        ended.set()
        for each in running:
            each.result()
    assert is_enough()


def _enough(registers: Mapping[str, Register]) -> bool:
    return all(len(each.writes) > 3 and len(each.reads) > 20 for each in registers.values())


def _all_cached(servers: list[Metastore], folder: Path) -> bool:
    """Whether each server has given cached answers, by its log in the folder."""
    logs = [each.read_text() for each in folder.glob("server-*/server.log")]
    assert len(logs) == len(servers)
    return all(log.count('"outcome": "cached"') > 20 for log in logs)


def _of_partitions(number: int) -> Any:
    return api.SetPartitionsStatsRequest(colStats=[_statistics("p", "a", number, each) for each in PARTITIONS])


@pytest.mark.slow
def test_no_read_is_stale_and_no_update_lost(servers: list[Metastore], tmp_path: Path) -> None:
    registers = {
        "a": Register.holding(0),
        "b": Register.holding(0),
        "p": Register.holding((0, 0, 0)),
        "before": Register.holding(THERE),
        "after": Register.holding(ABSENT),
        "d": Register.holding(EMPTY),
    }
    ended = threading.Event()
    work: list[Callable[[Pair], None]] = [
        lambda pair: _write_column(pair, "a", registers["a"], ended),
        lambda pair: _write_column(pair, "b", registers["b"], ended),
        lambda pair: _write_partitions(pair, registers["p"], ended),
        lambda pair: _rename(pair, registers["before"], registers["after"], ended),
        lambda pair: _make_again(pair, servers[0], registers["d"], ended),
        *[lambda pair: _read(pair, registers, ended)] * 3,
    ]
    _run(servers, work, ended, lambda: _enough(registers) and _all_cached(servers, tmp_path))
    assert {name: each.untrue() for name, each in registers.items()} == {name: [] for name in registers}
    for server in servers:  # nothing written was lost on the way
        client = server.client()
        assert [_read_table(client, "t", each) for each in "ab"] == [registers[each].writes[-1].value for each in "ab"]
        assert _read_partitions(client) == registers["p"].writes[-1].value


def _write_column(pair: Pair, column: str, register: Register, ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        number += 1
        with register.writing(number):
            pair.any.update_table_column_statistics(_statistics("t", column, number))
        _pause()


def _write_partitions(pair: Pair, register: Register, ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        number += 1
        with register.writing((number,) * len(PARTITIONS)):
            pair.any.set_aggr_stats_for(_of_partitions(number))
        _pause()


def _rename(pair: Pair, before: Register, after: Register, ended: threading.Event) -> None:
    here, there = ("before", before), ("after", after)
    while not ended.is_set():
        wanted = api.GetTableRequest(dbName="coherence", tblName=here[0])
        table = pair.any.get_table_req(wanted).table
        table.tableName = there[0]
        with here[1].writing(ABSENT), there[1].writing(THERE):
            pair.any.alter_table("coherence", here[0], table)
        here, there = there, here
        _pause()


def _make_again(pair: Pair, server: Metastore, register: Register, ended: threading.Event) -> None:
    number = THERE
    table = server.read_table("d")
    while not ended.is_set():
        number += 1
        with register.writing(ABSENT):
            pair.any.drop_table("coherence", "d", True)
        with register.writing(EMPTY):
            pair.any.create_table(table)
        with register.writing(number):
            pair.any.update_table_column_statistics(_statistics("d", "a", number))
        _pause()


def _read(pair: Pair, registers: dict[str, Register], ended: threading.Event) -> None:
    while not ended.is_set():
        name, register = pair.one_of(registers)
        client = pair.any
        if name == "p":
            register.reading(partial(_read_partitions, client))
        elif name in ("a", "b"):
            register.reading(partial(_read_table, client, "t", name))
        else:
            register.reading(partial(_read_table, client, name, "a"))


def _read_table(client: Any, table: str, column: str) -> Hashable:
    wanted = api.TableStatsRequest(dbName="coherence", tblName=table, colNames=[column])
    try:
        found = client.get_table_statistics_req(wanted).tableStats
    except api.NoSuchObjectException:
        return ABSENT
    return int(found[0].statsData.longStats.numDVs) if found else EMPTY


def _read_partitions(client: Any) -> Hashable:
    wanted = api.PartitionsStatsRequest(dbName="coherence", tblName="p", colNames=["a"], partNames=PARTITIONS)
    found = client.get_partitions_statistics_req(wanted).partStats
    return tuple(found[each][0].statsData.longStats.numDVs for each in PARTITIONS)


def _pause() -> None:
    """Long enough for readers to meet the same answer more than once."""
    time.sleep(random.uniform(0, 0.02))


MANY = [f"k=m{number}" for number in range(12)]
"""Partitions of table `m`: of the first six the numbers change one by one, of the next two together."""
TOGETHER, MOVED, COMING = MANY[6:8], ("k=m8", "k=moved"), MANY[9]


@pytest.mark.slow
def test_new_questions_over_partitions_that_change_one_by_one_are_never_answered_with_what_was(
    servers: list[Metastore],
) -> None:
    _fill_many(servers[0])
    registers = {name: Register.holding(0) for name in MANY[:6]}
    registers |= {"together": Register.holding((0, 0)), MOVED[0]: Register.holding(THERE)}
    registers |= {MOVED[1]: Register.holding(None), COMING: Register.holding(THERE)}
    ended = threading.Event()
    work: list[Callable[[Pair], None]] = [
        lambda pair: _write_each(pair, MANY[:3], registers, ended),
        lambda pair: _write_each(pair, MANY[3:6], registers, ended),
        lambda pair: _write_two(pair, registers["together"], ended),
        lambda pair: _move(pair, registers, ended),
        lambda pair: _go_and_come(pair, registers[COMING], ended),
        *[lambda pair: _read_some(pair, registers, ended)] * 3,
    ]
    _run(servers, work, ended, lambda: _enough(registers))
    assert {name: each.untrue() for name, each in registers.items()} == {name: [] for name in registers}
    for server in servers:  # no update was lost
        found = _read_many(server.client(), [*MANY[:6], *TOGETHER], "a")
        assert [found[name] for name in MANY[:6]] == [registers[name].writes[-1].value for name in MANY[:6]]
        assert (found[TOGETHER[0]], found[TOGETHER[1]]) == registers["together"].writes[-1].value


def _fill_many(server: Metastore) -> None:
    server.table("m", {"a": "bigint", "b": "bigint"}, keys=["k"])
    server.add_partitions(*([name[2:]] for name in MANY), table="m", columns={"a": "bigint", "b": "bigint"})
    numbers = {name: 0 if name in MANY[:8] else THERE for name in MANY}
    sets = [_statistics("m", column, number, name) for name, number in numbers.items() for column in "ab"]
    server.client().set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=sets))


def _write_each(pair: Pair, names: list[str], registers: dict[str, Register], ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        number += 1
        for name in names:
            with registers[name].writing(number):
                pair.any.update_partition_column_statistics(_statistics("m", "a", number, name))
        _pause()


def _write_two(pair: Pair, register: Register, ended: threading.Event) -> None:
    number = 0
    while not ended.is_set():
        number += 1
        sets = [_statistics("m", "a", number, name) for name in TOGETHER]
        with register.writing((number, number)):
            pair.any.set_aggr_stats_for(api.SetPartitionsStatsRequest(colStats=sets))
        _pause()


def _move(pair: Pair, registers: dict[str, Register], ended: threading.Event) -> None:
    """Rename a partition, whose statistics go with it, back and forth."""
    here, there = MOVED
    while not ended.is_set():
        partition = pair.any.get_partition_by_name("coherence", "m", here)
        partition.values = [there[2:]]
        with registers[here].writing(None), registers[there].writing(THERE):
            pair.any.rename_partition("coherence", "m", [here[2:]], partition)
        here, there = there, here
        _pause()


def _go_and_come(pair: Pair, register: Register, ended: threading.Event) -> None:
    """Drop a partition with its statistics, and add it with others."""
    number = THERE
    partition = pair.any.get_partition_by_name("coherence", "m", COMING)
    while not ended.is_set():
        number += 1
        with register.writing(None):
            pair.any.drop_partition("coherence", "m", [COMING[2:]], False)
            pair.any.add_partition(partition)
        with register.writing(number):
            pair.any.update_partition_column_statistics(_statistics("m", "a", number, COMING))
        _pause()


def _read_some(pair: Pair, registers: dict[str, Register], ended: threading.Event) -> None:
    """Ask about some partitions in some order; what is found of each is a read of its register."""
    while not ended.is_set():
        wanted = random.sample([*MANY, MOVED[1]], random.randrange(1, 12))
        began = time.monotonic()
        found = _read_many(pair.any, wanted, *random.choice(["a", "ab", "ba"]))
        over = time.monotonic()
        for name in set(wanted) & registers.keys():
            registers[name].reads.append(Event(found.get(name), began, over))
        if set(TOGETHER) <= set(wanted):
            registers["together"].reads.append(Event(tuple(found[name] for name in TOGETHER), began, over))
        if set(MOVED) <= set(wanted):  # it is under one of its names in any one picture
            assert [found.get(name) for name in MOVED].count(THERE) == 1


def _read_many(client: Any, wanted: list[str], *columns: str) -> dict[str, Hashable]:
    request = api.PartitionsStatsRequest(dbName="coherence", tblName="m", colNames=list(columns), partNames=wanted)
    found = client.get_partitions_statistics_req(request).partStats
    numbers = {name: {each.colName: each.statsData.longStats.numDVs for each in some} for name, some in found.items()}
    return {name: of_columns["a"] for name, of_columns in numbers.items() if "a" in of_columns}


@pytest.mark.parametrize(
    ("read", "true"),
    [
        (Event("old", 0.0, 0.5), True),
        (Event("new", 0.0, 0.5), False),
        (Event("old", 1.2, 1.3), True),
        (Event("new", 1.2, 1.3), True),
        (Event("old", 2.1, 2.2), False),
        (Event("new", 2.1, 2.2), True),
        (Event("old", 1.9, 9.0), True),
        (Event("never", 0.0, 9.0), False),
    ],
)
def test_the_checker_finds_what_is_not_true(read: Event, true: bool) -> None:
    register = Register([Event("old", 0.0, 0.0), Event("new", 1.0, 2.0)], [read])
    assert (register.untrue() == []) is true

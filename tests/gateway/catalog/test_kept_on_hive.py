"""Clients change tables at a Hive that logs its changes and at a gateway to it: no answer that is kept is stale."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.doors import Doors, bounds, long
from tests.gateway.test_metastores import Pair

from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.statistics.column_statistics import set_from_thrift

pytestmark = [pytest.mark.hive, pytest.mark.slow]

STEPS = 60
COLUMNS = {"a": "bigint", "s": "string"}
TABLES = ("t", "u")


@pytest.fixture
def pair(hive_4_0_that_logs: int, tmp_path: Path) -> Iterator[Pair]:
    upstream = ("--workers", "1", "--upstream", f"thrift://127.0.0.1:{hive_4_0_that_logs}")
    with serving(tmp_path, *upstream) as port:
        direct = Metastore("hive-4.0 that logs", hive_4_0_that_logs, 4.0)
        with direct.clients:
            direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
            yield Pair(direct, replace(direct, port=port))


def questions(pair: Pair, table: str) -> None:
    """Ask about a table by both doors, the gateway twice: the answers must be alike."""
    place = {"db_name": pair.direct.database, "tbl_name": table}
    for _ in range(2):
        pair.alike("get_table_req", req=api.GetTableRequest(dbName=pair.direct.database, tblName=table))
        pair.alike("get_partition_names", **place, max_parts=-1)
        pair.alike("get_partitions_by_names", **place, names=["day=1", "day=2"])
        pair.alike("get_partitions", **place, max_parts=-1)


class Changer:
    """Changes tables by whichever door it is given."""

    def __init__(self, choose: random.Random) -> None:
        self._choose = choose

    def change(self, door: Metastore, table: str) -> str:
        """Make a change that a table allows. Returns what was done."""
        client = door.client()
        there = client.get_all_tables(door.database)
        if table not in there:
            other = next((each for each in TABLES if each in there), None)
            if other is None or self._choose.random() < 0.5:
                door.table(table, COLUMNS, keys=["day"])
                return "create"
            renamed = door.read_table(other)
            renamed.tableName = table
            client.alter_table_with_environment_context(door.database, other, renamed, None)
            return "rename"
        return self._choose.choice([self._parameter, self._partition, self._altered, self._dropped])(door, table)

    def _parameter(self, door: Metastore, table: str) -> str:
        changed = door.read_table(table)
        changed.parameters["k"] = str(self._choose.random())
        door.client().alter_table_with_environment_context(door.database, table, changed, None)
        return "parameter"

    def _partition(self, door: Metastore, table: str) -> str:
        client, day = door.client(), self._choose.choice("123")
        if f"day={day}" in client.get_partition_names(door.database, table, -1):
            client.drop_partition_by_name(door.database, table, f"day={day}", True)
            return f"drop day={day}"
        door.add_partitions([day], table=table, columns=COLUMNS)
        return f"add day={day}"

    def _altered(self, door: Metastore, table: str) -> str:
        client = door.client()
        names = client.get_partition_names(door.database, table, -1)
        if not names:
            return "nothing"
        changed: Any = client.get_partition_by_name(door.database, table, names[0])
        changed.parameters["k"] = str(self._choose.random())
        client.alter_partitions(door.database, table, [changed])
        return f"alter {names[0]}"

    def _dropped(self, door: Metastore, table: str) -> str:
        if self._choose.random() < 0.5:
            return "nothing"
        door.client().drop_table(door.database, table, True)
        return "drop"


def test_no_answer_is_stale(pair: Pair) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    choose = random.Random(seed)
    changer = Changer(choose)
    for table in TABLES:
        pair.direct.table(table, COLUMNS, keys=["day"])
    for step in range(STEPS):
        door, table = choose.choice([pair.direct, pair.relayed]), choose.choice(TABLES)
        done = changer.change(door, table)
        print(f"{step}: {done} of {table} by {'gateway' if door is pair.relayed else 'Hive'}")
        for each in TABLES:
            questions(pair, each)


def test_statistics_that_are_written_here_are_in_the_next_answer(hive_4_0_that_logs: int, tmp_path: Path) -> None:
    """Nothing is sent to Hive, so that its log does not tell of them: answers without any are not given again."""
    settings = {"workers": 1, "upstream_writes": "off"}
    with serving(tmp_path, "--upstream", f"thrift://127.0.0.1:{hive_4_0_that_logs}", settings=settings) as port:
        direct = Metastore("hive-4.0 that logs", hive_4_0_that_logs, 4.0)
        with direct.clients:
            direct.client().create_database(api.Database(name=direct.database, description="", parameters={}))
            direct.table("t", COLUMNS)
            doors = Doors(direct, replace(direct, port=port))
            client = doors.here.client()

            def asked() -> api.Table:
                request = api.GetTableRequest(
                    dbName=direct.database, tblName="t", getColumnStats=True, engine="hive", catName="hive"
                )
                return client.get_table_req(request).table

            assert [asked().colStats for _ in range(5)] == [None] * 5
            doors.ours.put_table_statistics(doors.name(), StatisticsSet((long(1, 9),)))
            for _ in range(5):
                assert bounds(set_from_thrift(asked().colStats)[1].columns) == [(1, 9)]


def test_clients_that_ask_together_see_what_each_has_changed(pair: Pair) -> None:
    """Each of four clients changes a table of its own at Hive, and asks for it at the gateway at once."""
    names = [f"c{each}" for each in range(4)]
    for each in names:
        pair.direct.table(each, COLUMNS)
    clients = {each: (pair.relayed.client(), pair.direct.client()) for each in names}

    def count(name: str) -> list[str]:
        ours, theirs = clients[name]
        table = theirs.get_table_req(api.GetTableRequest(dbName=pair.direct.database, tblName=name)).table
        request = api.GetTableRequest(dbName=pair.direct.database, tblName=name)
        seen = []
        for number in range(25):
            table.parameters["number"] = str(number)
            theirs.alter_table_with_environment_context(pair.direct.database, name, table, None)
            seen += [ours.get_table_req(request).table.parameters["number"] for _ in range(3)]
        return seen

    with ThreadPoolExecutor(len(names)) as threads:
        found = list(threads.map(count, names))
    assert found == [[str(each // 3) for each in range(75)]] * len(names)

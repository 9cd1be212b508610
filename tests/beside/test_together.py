"""A real Hive Metastore and a server of ours over one database, both written to by clients at random.

Then both are asked for everything, and answer the same. It takes some seconds; HMSTATS_TEST_BESIDE_SECONDS says how
many. The seeds are fixed; what the threads make of them is not.
"""

import os
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.behaviour.structs import STRUCTS, statistics, statistics_of
from tests.beside.clients import PARTED, PLAIN, SAID, Client
from tests.beside.plain import differences, plain
from tests.fixtures.metastores import Metastore
from tests.fixtures.pairs import Pair

from hmstats.wire.idl import hive_metastore as api

SECONDS = float(os.environ.get("HMSTATS_TEST_BESIDE_SECONDS", "6"))
CLIENTS = 2
"""So many change things through each of the two."""
_ERROR = re.compile(r"^\S+ (?:ERROR|FATAL) (.*)$", re.MULTILINE)
_SAID = re.compile(rf"RetryingHMSHandler: (?:{'|'.join(each.__name__ for each in SAID)})\b")
"""Hive logs as an error what it only says to its client."""


def test_both_answer_the_same_after_both_were_written_to(hive_and_ours: Pair, capfd: Any) -> None:
    hive, ours = hive_and_ours.both
    _take_first_ids(hive)
    for name in PLAIN:
        hive.table(name)
    for name in PARTED:
        ours.table(name, keys=("k",))
    logged = len(hive_and_ours.log.read_text())
    clients = _write(hive_and_ours)
    for each in hive_and_ours.both:
        done = sum((client.done for client in clients if client.metastore is each), Counter())
        with capfd.disabled():
            print(f"\n{each.flavour}: {sum(done.values())} changes, {dict(sorted(done.items()))}")
        assert sum(done.values()) - done["too late"] > SECONDS
    theirs, mine = (_everything(each) for each in hive_and_ours.both)
    assert differences(theirs, mine) == []
    assert theirs["statistics"]
    errors = _ERROR.findall(hive_and_ours.log.read_text()[logged:])
    assert [each for each in errors if not _SAID.match(each)] == []


def _take_first_ids(hive: Metastore) -> None:
    """Let Hive have counted everything once: it logs an error when another takes the first id of a kind before it."""
    hive.table("first", keys=("k",))
    hive.add_partitions(("a",), table="first")
    client = hive.client()
    client.update_table_column_statistics(statistics(hive, statistics_of("l"), table="first"))
    client.update_partition_column_statistics(statistics(hive, statistics_of("l"), partition="k=a", table="first"))


def _write(servers: Pair) -> list[Client]:
    locks = {name: threading.Lock() for name in (*PLAIN, *PARTED)}
    clients = [Client(each, seed, locks) for seed, each in enumerate(servers.both * CLIENTS)]
    ended = threading.Event()
    with ThreadPoolExecutor(len(clients)) as threads:
        running = [threads.submit(each.run, ended) for each in clients]
        time.sleep(SECONDS)
        ended.set()
        for each in running:
            each.result()
    return clients


def _everything(metastore: Metastore) -> dict[str, Any]:
    """All that a client can ask of the database, as plain values."""
    client, database = metastore.client(), metastore.database
    tables = sorted(client.get_all_tables(database))
    partitions = {name: client.get_partitions(database, name, -1) for name in PARTED}
    names = {name: sorted(client.get_partition_names(database, name, -1)) for name in PARTED}
    return {
        "tables": {name: _table(metastore.read_table(name)) for name in tables},
        "names": names,
        "partitions": {name: [_partition(each) for each in found] for name, found in partitions.items()},
        "statistics": {name: _of_table(metastore, name) for name in tables},
        "statistics of partitions": {name: _of_partitions(metastore, name, names[name]) for name in PARTED},
    }


def _of_table(metastore: Metastore, name: str) -> dict[str, Any]:
    request = api.TableStatsRequest(dbName=metastore.database, tblName=name, colNames=list(STRUCTS))
    return _objects(metastore.client().get_table_statistics_req(request).tableStats)


def _of_partitions(metastore: Metastore, name: str, names: list[str]) -> dict[str, Any]:
    if not names:
        return {}
    request = api.PartitionsStatsRequest(
        dbName=metastore.database, tblName=name, colNames=list(STRUCTS), partNames=names
    )
    found = metastore.client().get_partitions_statistics_req(request).partStats
    return {each: _objects(objects) for each, objects in found.items()}


def _objects(found: list[Any]) -> dict[str, Any]:
    assert len({each.colName for each in found}) == len(found), "a column answered for twice"
    return {each.colName: _data(each.statsData) for each in found}


def _data(data: Any) -> Any:
    """Hive 4 sends an older client a union for timestamps that it does not know; ours sends the one that it knows."""
    times = data.timestampStats
    if times is None:
        return plain(data)
    bounds = {name: getattr(times, name).secondsSinceEpoch for name in ("lowValue", "highValue")}
    return {"longStats": {**plain(times), **bounds}}


def _table(table: Any) -> dict[str, Any]:
    names = ("tableName", "dbName", "owner", "createTime", "sd", "partitionKeys", "parameters", "tableType")
    found = plain(table)
    return {name: found.get(name) for name in names}


def _partition(partition: Any) -> dict[str, Any]:
    names = ("values", "dbName", "tableName", "createTime", "sd", "parameters")
    found = plain(partition)
    return {name: found.get(name) for name in names}

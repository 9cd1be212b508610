"""A gateway as users start it, to an hmstats and to real Hives: each answer is what the upstream gives directly."""

import re
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.metastores import HIVES, Metastore
from tests.fixtures.servers import serving
from tests.server.requests import encoded, envelope
from tests.server.serving import PATIENCE_SECONDS

from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL
from hmstats.wire.messages.scanner import end_of_value


@dataclass
class Pair:
    """A metastore, and a gateway to it."""

    direct: Metastore
    relayed: Metastore

    def alike(self, name: str, /, **arguments: Any) -> bytes:
        """The bytes of an answer, which must be the same in both ways."""
        body = encoded(methods()[name].arguments(**arguments))
        answers = [asked(each.port, name, body) for each in (self.direct, self.relayed)]
        assert answers[0] == answers[1]
        return answers[0]


def asked(port: int, name: str, body: bytes) -> bytes:
    """The whole answer to a call over a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(envelope(name, 7, CALL, body))
        answer = b""
        while True:
            answer += client.recv(65536)
            if len(answer) > 8 and (end := _end(answer)) is not None:
                assert end == len(answer)
                return answer


def _end(answer: bytes) -> int | None:
    (size,) = struct.unpack_from(">i", answer, 4)
    try:
        return end_of_value(answer, 12, 12 + size)
    except Exception:  # noqa: BLE001 - any error of a message that is not whole
        return None


@pytest.fixture(
    scope="module", params=["hmstats-sqlite", *(pytest.param(each, marks=pytest.mark.hive) for each in HIVES)]
)
def ports(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, int]]:
    """A metastore's flavour, its port, and that of a gateway to it."""
    port = request.getfixturevalue(re.sub(r"\W", "_", request.param))
    folder = tmp_path_factory.mktemp("gateway")
    flags = ("--workers", "1", "--upstream", f"thrift://127.0.0.1:{port}")
    with serving(folder, *flags, settings={"upstream_write_seconds": 0.2}) as relaying:
        yield request.param, port, relaying


@pytest.fixture
def pair(ports: tuple[str, int, int]) -> Iterator[Pair]:
    """A gateway and its upstream, with a database of the test's own."""
    flavour, port, relaying = ports
    direct = Metastore(flavour, port, 4.0)
    relayed = replace(direct, port=relaying)
    with direct.clients:
        relayed.client().create_database(api.Database(name=direct.database, description="", parameters={}))
        yield Pair(direct, relayed)


def test_what_is_changed_by_the_gateway_reads_alike_by_both(pair: Pair) -> None:
    database, client = pair.direct.database, pair.relayed.client()
    assert client.set_ugi("anna", ["staff"]) == ["staff"]
    pair.relayed.table("t", {"a": "bigint", "s": "string"}, keys=["day"])
    pair.relayed.add_partitions(["1"], ["2"], columns={"a": "bigint"})
    pair.alike("get_database", name=database)
    pair.alike("get_all_tables", db_name=database)
    pair.alike("get_partitions", db_name=database, tbl_name="t", max_parts=-1)
    pair.alike("get_partition_names_ps", db_name=database, tbl_name="t", part_vals=["1"], max_parts=-1)
    pair.alike("get_partitions_by_filter", db_name=database, tbl_name="t", filter='day = "2"', max_parts=-1)
    pair.alike("get_table_req", req=api.GetTableRequest(dbName=database, tblName="t"))
    pair.alike("get_table_req", req=api.GetTableRequest(dbName=database, tblName="missing"))
    assert client.drop_partition_by_name(database, "t", "day=1", True)
    pair.alike("get_partition_names", db_name=database, tbl_name="t", max_parts=-1)
    with pytest.raises(api.AlreadyExistsException):
        pair.relayed.table("t")
    client.drop_table(database, "t", True)
    pair.alike("get_all_tables", db_name=database)


def test_statistics_that_are_written_by_the_gateway_become_the_upstreams(pair: Pair) -> None:
    database = pair.direct.database
    pair.relayed.table("s", {"a": "bigint"})
    numbers = api.LongColumnStatsData(lowValue=1, highValue=9, numNulls=2, numDVs=5)
    written = api.ColumnStatistics(
        statsDesc=api.ColumnStatisticsDesc(isTblLevel=True, dbName=database, tableName="s"),
        statsObj=[api.ColumnStatisticsObj("a", "bigint", api.ColumnStatisticsData(longStats=numbers))],
    )
    assert pair.relayed.client().update_table_column_statistics(written)
    wanted = api.TableStatsRequest(dbName=database, tblName="s", colNames=["a"])
    until = time.monotonic() + PATIENCE_SECONDS
    while not pair.direct.client().get_table_statistics_req(wanted).tableStats:
        assert time.monotonic() < until
        time.sleep(0.1)
    pair.alike("get_table_statistics_req", request=wanted)
    found = pair.direct.client().get_table_statistics_req(wanted).tableStats[0].statsData.longStats
    assert (found.lowValue, found.highValue, found.numDVs) == (1, 9, 5)


def test_calls_that_the_upstream_does_not_know_are_refused_by_it(pair: Pair) -> None:
    with socket.create_connection(("127.0.0.1", pair.relayed.port), timeout=PATIENCE_SECONDS) as client:
        client.sendall(envelope("call_of_2030", 7, CALL, b"\0"))
        assert b"Invalid method name: 'call_of_2030'" in client.recv(1024)


def test_the_gateway_says_by_itself_what_it_is(pair: Pair) -> None:
    client = pair.relayed.client()
    assert client.getName() == "hmstats"
    assert client.getStatus() == 2
    client.shutdown()
    assert pair.direct.client().get_all_databases() == pair.relayed.client().get_all_databases()


@pytest.mark.slow
def test_an_upstream_that_is_away(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "1", "--upstream", "thrift://127.0.0.1:1,thrift://127.0.0.1:2") as port:
        client = Metastore("gateway", port, 4.0)
        with client.clients:
            with pytest.raises(api.MetaException, match=r"thrift://127.0.0.1:1: .*; thrift://127.0.0.1:2: "):
                client.client().get_all_databases()
            assert client.client().getStatus() == 2

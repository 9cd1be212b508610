"""Thousands of partitions in one call: the worker's memory is bounded by the call's bytes, and a bystander is answered.

HMSTATS_TEST_MANY_PARTITIONS says how many.
"""

import os
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.benchmarks.harness.processes import memory_of
from tests.faults.harness.worker_processes import PATIENCE_SECONDS, Workers, workers
from tests.fuzz.judged import BASE_MEMORY_MB, MEMORY_TIMES
from tests.server.requests import reply_of, request
from tests.server.serving import Client

from hmstats.wire.idl import hive_metastore as api

COUNT = int(os.environ.get("HMSTATS_TEST_MANY_PARTITIONS", "5000"))
_MB = 1024 * 1024
LEAST_ANSWERS = 5
"""The fewest answers that the bystander must have before the large call ends; one that is held up has none."""


@pytest.fixture
def server(url: str, tmp_path: Path) -> Iterator[Workers]:
    """One worker, with a partitioned table."""
    with workers(tmp_path, url, count=1, busy_poll_seconds=0) as found:
        with Client(("127.0.0.1", found.port)) as client:
            keys = [api.FieldSchema(name="k", type="string")]
            table = api.Table(
                dbName="default", tableName="t", sd=storage(), partitionKeys=keys, parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )  # fmt: skip
            assert client.ask("create_table", tbl=table).content.o1 is None
        yield found


def storage() -> Any:
    columns = [api.FieldSchema(name="c", type="bigint")]
    return api.StorageDescriptor(cols=columns, serdeInfo=api.SerDeInfo(parameters={}), parameters={})


def test_thousands_of_partitions_in_one_call_hold_up_nobody(server: Workers) -> None:
    new = [
        api.Partition(values=[f"v{number:06}"], dbName="default", tableName="t", sd=storage(), parameters={})
        for number in range(COUNT)
    ]
    assert beside(server, "add_partitions", new_parts=new) == COUNT
    found = beside(server, "get_partitions", db_name="default", tbl_name="t", max_parts=-1)
    assert [each.values for each in found] == [each.values for each in new]


def beside(server: Workers, name: str, **arguments: Any) -> Any:
    """What a call returns that is made beside a bystander; its cost to worker and bystander is checked."""
    (pid,) = server.alive()
    sent = request(name, 1, **arguments)
    before = memory_of(pid).resident
    (Path("/proc") / str(pid) / "clear_refs").write_text("5")  # the peak is that of this call
    with Client(("127.0.0.1", server.port)) as bystander, ThreadPoolExecutor(1) as pool:
        assert bystander.ask("get_all_databases").value == ["default"]
        call = pool.submit(whole_reply, server.port, sent)
        answers = answered_until(call, bystander)
        reply = call.result()
    grown_mb = memory_of(pid).peak - before
    size_mb = max(1.0, (len(sent) + len(reply)) / _MB)
    print(f"{name}: {answers} answers beside, {grown_mb:.0f} MB more for {size_mb:.1f} MB")
    assert answers >= LEAST_ANSWERS
    assert grown_mb < MEMORY_TIMES * max(size_mb, 1.0 + BASE_MEMORY_MB / MEMORY_TIMES)
    return reply_of([reply]).value


def answered_until(call: Future[bytes], bystander: Client) -> int:
    """How many answers a bystander has before a call ends, reads of the same table among them."""
    answers = 0
    while not call.done():
        assert bystander.ask("get_table", dbname="default", tbl_name="t").value.tableName == "t"
        answers += not call.done()
    return answers


def whole_reply(port: int, data: bytes) -> bytes:
    """The bytes of a reply, not decoded: the call ends with its last byte."""
    with closing(socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)) as connection:
        connection.sendall(struct.pack(">I", len(data)) + data)
        (size,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
        reply = bytearray()
        while len(reply) < size:
            piece = connection.recv(size - len(reply))
            assert piece, "the server has closed the connection"
            reply += piece
    return bytes(reply)

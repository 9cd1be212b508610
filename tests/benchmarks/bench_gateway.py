"""What a gateway adds to a call, how fast a large answer passes through it, and statistics read by it and directly.

Run with `python -m tests.benchmarks.bench_gateway [--megabytes 100] [--clients 1000] [--upstream thrift://HOST:PORT]
[--hive 4.0 [--reads] [--large] [--trino]]`. Small calls go to a server of ours unless another upstream is named;
large answers come from a process that does nothing but send them. With --hive, calls are asked of a real Hive on
PostgreSQL and of a gateway before it, in turns; a Hive 4.0 logs its changes, so that the gateway keeps answers about
tables. With --large the Hive is asked for partitions of so many megabytes too. With --trino two Trinos plan a query
over 1,000 partitions, one at the Hive and one at the gateway.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.benchmarks.harness.durable import durable_server
from tests.benchmarks.harness.load import first_reply
from tests.benchmarks.harness.processes import family_of, listener_of
from tests.benchmarks.harness.scenarios import AT_ONCE, DATABASE, PARTITIONS, SCENARIOS, fill
from tests.engines.test_planners import planner
from tests.fixtures.databases.postgres import fresh_database
from tests.fixtures.hive import hive
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import serving
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.peers import event_listener
from tests.server.requests import encoded, request
from tests.server.serving import Address, Client

from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import encode_reply, read_head

_ROUNDS, _CALLS = 10, 300
_OF_HIVE = 5
"""Calls of one kind of a round: some take a Hive seconds."""
_PLANS = 10
_PLANNED = "EXPLAIN SELECT k, sum(c1) FROM parted0 WHERE c0 > 5 GROUP BY k"
_RECEIVED_AT_ONCE = 256 * 1024
_LARGE_COLUMNS = 100
_ADDED_AT_ONCE = 500
_LARGE_SECONDS = 600
_LAST = b"the last partition"
_PARTED = {"db_name": DATABASE, "tbl_name": "parted0"}
_ABOUT_TABLES: Sequence[tuple[str, str, Mapping[str, Any]]] = (
    ("get_table_req", "get_table_req", {"req": api.GetTableRequest(dbName=DATABASE, tblName="parted0")}),
    ("get_partition_names, 1,000", "get_partition_names", {**_PARTED, "max_parts": -1}),
    ("get_partitions_by_names, 100", "get_partitions_by_names", {**_PARTED, "names": PARTITIONS[:AT_ONCE]}),
)
"""Calls whose answers a gateway keeps if the upstream's log proves them."""
_ITSELF: Mapping[str, Any] = {
    "getName": "metastore",
    "getVersion": "3.1.3",
    "get_metastore_db_uuid": "bench",
    "get_current_notificationEventId": api.CurrentNotificationEventId(eventId=1),
    "set_ugi": [],
}
"""What the sender of large answers says of itself."""
_END = _LAST + b"\0\0"
"""The end of a large answer: those of its last partition and of the result."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=100, help="of a large answer")
    parser.add_argument("--clients", type=int, default=1_000, help="that ask at once")
    parser.add_argument("--upstream", help="that small calls go to")
    parser.add_argument("--hive", choices=("3.1", "4.0"), help="whose calls are measured, and nothing else")
    parser.add_argument("--reads", action="store_true", help="of these calls those that read")
    parser.add_argument("--large", action="store_true", help="whose answer of --megabytes is measured too")
    parser.add_argument("--trino", action="store_true", help="two of which plan a query")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        if given.hive:
            port, gateway = _of_hive(stack, folder, given.hive, reads_only=given.reads)
            if given.large:
                _large_of_hive(port, gateway, given.megabytes)
            if given.trino:
                _of_trino(stack, folder, port, gateway)
            return
        direct = _address(given.upstream) if given.upstream else stack.enter_context(_ours(folder / "upstream"))
        relayed = stack.enter_context(_ours(folder / "small", direct))
        _small(direct, relayed)
        _many(direct, relayed, given.clients)
        large = stack.enter_context(_sender(given.megabytes))
        _large(large, stack.enter_context(_ours(folder / "large", large)))


def _of_hive(stack: ExitStack, folder: Path, release: str, *, reads_only: bool) -> tuple[int, int]:
    """Print how long calls take of a Hive, and of a gateway before it, over one connection each; their ports."""
    database = stack.enter_context(fresh_database(stack.enter_context(durable_server())))
    logging = [event_listener.TRANSACTIONAL, "hive.metastore.event.db.notification.api.auth=false"]
    settings, jars = (logging, event_listener.class_path(release)) if release == "4.0" else ([], ())
    port = stack.enter_context(hive(release, folder, *settings, database=database, jars=jars, measured=True))
    fill(port, 1)
    gateway = stack.enter_context(_ours(folder / "gateway", ("127.0.0.1", port)))
    calls: list[tuple[str, str, Mapping[str, Any]]] = [
        ("get_database", "get_database", {"name": DATABASE}),
        *_ABOUT_TABLES,
        *((each.title, each.method, each.arguments(0)) for each in SCENARIOS if each.reads or not reads_only),
    ]
    print(f"load {os.getloadavg()[0]:.0f}; ms at the median of {_ROUNDS} rounds in turns, and the fastest tenth")
    with Client(("127.0.0.1", port)) as first, Client(gateway) as second:
        for title, method, arguments in calls:
            asked = request(method, **arguments)
            seconds = [_seconds(client, asked) for _ in range(_ROUNDS) for client in (first, second)]
            sides = [[one for each in seconds[side::2] for one in each] for side in (0, 1)]
            medians = [statistics.median(each) * 1000 for each in sides]
            tenths = [statistics.quantiles(each, n=10)[0] * 1000 for each in sides]
            print(
                f"{title}: direct {medians[0]:.2f} ({tenths[0]:.2f}), gateway {medians[1]:.2f} ({tenths[1]:.2f}): "
                f"x {medians[1] / medians[0]:.2f} ({tenths[1] / tenths[0]:.2f})"
            )
    return port, gateway[1]


def _large_of_hive(port: int, gateway: int, megabytes: int) -> None:
    """Print how fast all partitions of a table come from a Hive, and through a gateway."""
    metastore = Metastore("bench", port, 4.0, DATABASE)
    with metastore.clients:
        columns = {f"column_{number}": "bigint" for number in range(_LARGE_COLUMNS)}
        metastore.table("large", columns, keys=["k"])
        count = megabytes * 1_000_000 // len(encoded(metastore.partition("0", table="large", columns=columns)))
        for begin in range(0, count, _ADDED_AT_ONCE):
            numbers = range(begin, min(begin + _ADDED_AT_ONCE, count))
            metastore.add_partitions(*([f"{each}"] for each in numbers), table="large", columns=columns)
    asked = request("get_partitions", db_name=DATABASE, tbl_name="large", max_parts=-1)
    processes = list(family_of(listener_of(gateway)))
    with Client(("127.0.0.1", port)) as direct, Client(("127.0.0.1", gateway)) as relayed:
        for each in (direct, relayed):
            each.socket.settimeout(_LARGE_SECONDS)
        size = first_reply(direct.socket, "get_partitions", asked)
        for _ in range(3):
            for name, client in (("direct", direct), ("relayed", relayed)):
                before, began = _peak_mb(processes), time.perf_counter()
                client.send(asked)
                _receive(client, size)
                speed = size / 1e6 / (time.perf_counter() - began)
                more = _peak_mb(processes) - before
                print(f"{size / 1e6:.0f} MB of a Hive, {name}: {speed:.1f} MB/s; the gateway held {more:+.1f} MB more")


def _receive(client: Client, size: int) -> None:
    """Take so many bytes of an answer."""
    buffer = bytearray(_RECEIVED_AT_ONCE)
    while size:
        got = client.socket.recv_into(buffer, min(size, len(buffer)))
        assert got, f"{size} bytes are missing"
        size -= got


def _of_trino(stack: ExitStack, folder: Path, *ports: int) -> None:
    """Print how long Trino takes to plan a query at a Hive and at a gateway before it."""
    folders = [folder / f"trino-{each}" for each in ports]
    for each in folders:
        each.mkdir()
    urls = [stack.enter_context(planner("trino", *each)) for each in zip(ports, folders, strict=True)]
    seconds = [[_planning_seconds(url) for url in urls] for _ in range(_PLANS + 1)][1:]
    medians = [statistics.median(each) * 1000 for each in zip(*seconds, strict=True)]
    print(f"Trino plans over 1,000 partitions: direct {medians[0]:.0f} ms, gateway {medians[1]:.0f} ms")


def _planning_seconds(url: str) -> float:
    """How long it takes until a Trino has explained a query."""
    headers = {"X-Trino-User": "bench", "X-Trino-Catalog": "hive", "X-Trino-Schema": DATABASE}
    began = time.perf_counter()
    asked = Request(f"{url}/v1/statement", data=_PLANNED.encode(), headers=headers)
    while True:
        with urlopen(asked) as answer:
            page = json.load(answer)
        if page.get("error"):
            raise RuntimeError(page["error"]["message"])
        if "nextUri" not in page:
            return time.perf_counter() - began
        asked = Request(page["nextUri"], headers=headers)


def _seconds(client: Client, asked: bytes) -> list[float]:
    """How long each of some calls took, until its whole answer was there; the first one is not counted."""
    found = []
    for _ in range(_OF_HIVE + 1):
        began = time.perf_counter()
        client.send(asked)
        client.reply()
        found.append(time.perf_counter() - began)
    return found[1:]


def _small(direct: Address, relayed: Address) -> None:
    seconds: dict[Address, list[float]] = {direct: [], relayed: []}
    with Client(direct) as first, Client(relayed) as second:
        for _ in range(_ROUNDS):
            for address, client in ((direct, first), (relayed, second)):
                client.ask("get_config_value", name="hive.bench", defaultValue="x")
                for _ in range(_CALLS):
                    began = time.perf_counter()
                    client.ask("get_config_value", name="hive.bench", defaultValue="x")
                    seconds[address].append(time.perf_counter() - began)
    medians = [statistics.median(each) * 1000 for each in seconds.values()]
    tenths = [statistics.quantiles(each, n=10)[0] * 1000 for each in seconds.values()]
    print(
        f"small call, median: direct {medians[0]:.3f} ms, relayed {medians[1]:.3f} ms: {medians[1] - medians[0]:+.3f}"
    )
    print(f"small call, fastest tenth: direct {tenths[0]:.3f} ms, relayed {tenths[1]:.3f} ms")


def _many(direct: Address, relayed: Address, count: int) -> None:
    """Print how many calls clients get answered that all ask at once, and over how many connections."""
    connections = 0
    asked = [request("get_config_value", name=f"hive.bench.{each}", defaultValue="x") for each in range(count)]
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(relayed)) for _ in range(count)]
        began = time.perf_counter()
        for _ in range(_ROUNDS):
            for client, each in zip(clients, asked, strict=True):
                client.send(each)
            connections = max(connections, _accepted(direct[1]))
            for client in clients:
                client.reply()
        seconds = time.perf_counter() - began
    print(f"{count:,} clients at once: {_ROUNDS * count / seconds:,.0f} calls a second, {connections} connections")


def _accepted(port: int) -> int:
    """How many connections a port has."""
    fields = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(int(each[1].partition(":")[2], 16) == port and each[3] == "01" for each in fields)


def _large(direct: Address, relayed: Address) -> None:
    processes = list(family_of(listener_of(relayed[1])))
    for name, address in (("direct", direct), ("relayed", relayed), ("direct", direct), ("relayed", relayed)):
        before = _peak_mb(processes)
        with Client(address) as client:
            began = time.perf_counter()
            client.send(request("get_partitions"))
            size = _received(client)
        seconds = time.perf_counter() - began
        print(f"answer of {size / 1e6:.0f} MB, {name}: {size / 1e6 / seconds:,.0f} MB/s;", end=" ")
        print(f"the gateway's processes held {_peak_mb(processes) - before:+.1f} MB more at most")


def _received(client: Client) -> int:
    """Bytes of a large answer."""
    buffer = bytearray(_RECEIVED_AT_ONCE)
    size = 0
    tail = b""
    while not tail.endswith(_END):
        got = client.socket.recv_into(buffer)
        size += got
        tail = (tail + buffer[:got])[-len(_END) :]
    return size


@contextmanager
def _sender(megabytes: int) -> Iterator[Address]:
    """A process that answers everything with partitions, but questions about itself."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_send, args=(theirs, megabytes), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _send(told: Connection, megabytes: int) -> None:
    partition = _partition("2026-11-24")
    count = megabytes * 1_000_000 // len(partition)
    last = b"\x0b\0\2" + len(_LAST).to_bytes(4) + _END
    body = b"\x0f\0\0\x0c" + (count + 1).to_bytes(4) + partition * count + last

    def answer(side: UpstreamSide) -> None:
        while (asked := side.request()) is not None:
            head = read_head(asked)
            assert head is not None
            itself = _ITSELF.get(head.name)
            said = body if itself is None else encoded(methods()[head.name].result(success=itself))
            side.send(encode_reply(head, said))

    with Upstream(answer) as upstream:
        told.send(upstream.address)
        time.sleep(3600)


def _partition(day: str) -> bytes:
    columns = [api.FieldSchema(name=f"column_{number}", type="bigint", comment="") for number in range(10)]
    storage = api.StorageDescriptor(cols=columns, location=f"hdfs://cluster/warehouse/sales/day={day}", parameters={})
    parameters = {"numRows": "1000", "totalSize": "123456", "transient_lastDdlTime": "1790000000"}
    return encoded(api.Partition(values=[day], dbName="shop", tableName="sales", sd=storage, parameters=parameters))


@contextmanager
def _ours(folder: Path, upstream: Address | None = None) -> Iterator[Address]:
    folder.mkdir()
    flags = () if upstream is None else ("--upstream", f"thrift://{upstream[0]}:{upstream[1]}")
    with serving(folder, "--workers", "1", *flags, settings={"log_level": "warning"}) as port:
        yield "127.0.0.1", port


def _address(uri: str) -> Address:
    host, _, port = uri.removeprefix("thrift://").rpartition(":")
    return host, int(port)


def _peak_mb(processes: list[int]) -> float:
    """The most that processes have held since they began."""
    kilobytes = 0
    for process in processes:
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
        kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return kilobytes / 1024


if __name__ == "__main__":
    main()

"""What a gateway adds to a call, how fast a large answer passes through it, and statistics read by it and directly.

Run with `python -m tests.benchmarks.bench_gateway [--megabytes 100] [--upstream thrift://HOST:PORT] [--hive 4.0]`.
Small calls go to a server of ours unless another upstream is named; large answers come from a process that does nothing
but send them. With --hive, calls are asked of a real Hive on PostgreSQL and of a gateway before it, in turns.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.benchmarks.durable import durable_server
from tests.benchmarks.processes import family_of, listener_of
from tests.benchmarks.scenarios import DATABASE, SCENARIOS, fill
from tests.fixtures.hive import hive
from tests.fixtures.postgres import fresh_database
from tests.fixtures.servers import serving
from tests.gateway.gateways import Upstream, UpstreamSide
from tests.server.requests import encoded, request
from tests.server.serving import Address, Client

from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import encode_reply, read_head

_ROUNDS, _CALLS = 10, 300
_OF_HIVE = 5
"""Calls of one kind of a round: some take a Hive seconds."""
_RECEIVED_AT_ONCE = 256 * 1024
_LAST = b"the last partition"
_END = _LAST + b"\0\0"
"""The end of a large answer: those of its last partition and of the result."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--megabytes", type=int, default=100, help="of a large answer")
    parser.add_argument("--upstream", help="that small calls go to")
    parser.add_argument("--hive", choices=("3.1", "4.0"), help="whose calls are measured, and nothing else")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-bench-")))
        if given.hive:
            _of_hive(stack, folder, given.hive)
            return
        direct = _address(given.upstream) if given.upstream else stack.enter_context(_ours(folder / "upstream"))
        _small(direct, stack.enter_context(_ours(folder / "small", direct)))
        large = stack.enter_context(_sender(given.megabytes))
        _large(large, stack.enter_context(_ours(folder / "large", large)))


def _of_hive(stack: ExitStack, folder: Path, release: str) -> None:
    """Print how long calls take of a Hive, and of a gateway before it, over one connection each."""
    database = stack.enter_context(fresh_database(stack.enter_context(durable_server())))
    port = stack.enter_context(hive(release, folder, database=database, measured=True))
    fill(port, 1)
    gateway = stack.enter_context(_ours(folder / "gateway", ("127.0.0.1", port)))
    calls: list[tuple[str, str, Mapping[str, Any]]] = [
        ("get_database", "get_database", {"name": DATABASE}),
        *((each.title, each.method, each.arguments(0)) for each in SCENARIOS),
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
                client.ask("get_config_value", name="hmstats.bench", defaultValue="x")
                for _ in range(_CALLS):
                    began = time.perf_counter()
                    client.ask("get_config_value", name="hmstats.bench", defaultValue="x")
                    seconds[address].append(time.perf_counter() - began)
    medians = [statistics.median(each) * 1000 for each in seconds.values()]
    tenths = [statistics.quantiles(each, n=10)[0] * 1000 for each in seconds.values()]
    print(
        f"small call, median: direct {medians[0]:.3f} ms, relayed {medians[1]:.3f} ms: {medians[1] - medians[0]:+.3f}"
    )
    print(f"small call, fastest tenth: direct {tenths[0]:.3f} ms, relayed {tenths[1]:.3f} ms")


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
    """A process that answers everything with partitions."""
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
            side.send(encode_reply(head, body))

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

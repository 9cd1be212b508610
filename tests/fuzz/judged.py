"""Expensive requests against a running server, judged by what they cost all others.

A worker's processor time and memory are read around each request, and a client in a process of its own, which asks the
same small question all the time, notes how long it waits. So does another client, of a server beside that nobody
attacks: what both wait longer for is the machine's other work.
"""

import contextlib
import multiprocessing
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.faults.harness.worker_processes import Workers, workers
from tests.fixtures.databases.postgres import fresh_database
from tests.fuzz.shapes import Request, draw
from tests.server.serving import Client

from hmstats.store.migration import migrate
from hmstats.wire.idl import hive_metastore as api

_MB = 1024 * 1024
_CLOCK_TICKS = 100
PATIENCE_SECONDS = 120.0
SECONDS_A_MEGABYTE = 1.0
MEMORY_TIMES = 20
BASE_MEMORY_MB = 48
"""What a worker may grow by beside: its caches fill up, and the allocator keeps what it has."""
_STRANGE = (b"unexpected error", b"refuses the statement")
"""What no answer should say: the server or its database met what nobody foresaw."""
P99_SECONDS = 0.1
PARTITIONS = 50
_PAUSE_SECONDS = 0.005


@dataclass
class Cost:
    """What one request took."""

    number: int
    shape: str
    form: str
    sent_bytes: int
    seconds: float
    processor_seconds: float
    grown_mb: float
    outcome: str
    waited_seconds: float = 0.0
    """The longest that the bystander waited meanwhile."""

    @property
    def size_mb(self) -> float:
        """Of what was sent; what is small counts as a megabyte."""
        return max(1.0, self.sent_bytes / _MB)

    @property
    def fault(self) -> str | None:
        """What is wrong with it."""
        if self.processor_seconds > SECONDS_A_MEGABYTE * self.size_mb + 0.2:
            return f"{self.processor_seconds:.1f} s of processor time"
        if self.grown_mb > MEMORY_TIMES * self.size_mb + BASE_MEMORY_MB:
            return f"{self.grown_mb:.0f} MB of memory"
        return None if self.outcome in ("answered", "refused") else self.outcome

    def __str__(self) -> str:
        return (
            f"request {self.number}, {self.shape}, {self.form}, {self.sent_bytes:,} bytes sent: "
            f"{self.outcome} after {self.seconds:.2f} s, {self.processor_seconds:.2f} s of processor time, "
            f"{self.grown_mb:.0f} MB more; the bystander waited {self.waited_seconds * 1000:.0f} ms"
        )


@dataclass
class Judged:
    """What a run found: the faults, the dearest requests, and how long the bystander waited."""

    requests: int = 0
    faults: list[str] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    """How long the bystander of the server that nobody attacks waited."""

    @property
    def slow(self) -> str | None:
        """What is wrong with how long the bystander waited."""
        p99, most = _p99(self.waited), max(P99_SECONDS, 3 * _p99(self.beside))
        return f"the bystander's p99 is {p99 * 1000:.0f} ms, expected {most * 1000:.0f} ms" if p99 > most else None

    def __str__(self) -> str:
        dearest = sorted(self.costs, key=lambda cost: -cost.processor_seconds / cost.size_mb)[:5]
        longest = sorted(self.costs, key=lambda cost: -cost.waited_seconds)[:5]
        largest = sorted(self.costs, key=lambda cost: -cost.grown_mb / cost.size_mb)[:5]
        return "\n".join(
            [
                f"{self.requests:,} requests; {len(self.faults)} faults; "
                f"the bystander asked {len(self.waited):,} times: p99 {_p99(self.waited) * 1000:.1f} ms, "
                f"longest {max(self.waited) * 1000:.0f} ms; that of a server without attack: "
                f"p99 {_p99(self.beside) * 1000:.1f} ms, longest {max(self.beside) * 1000:.0f} ms",
                "most processor time:",
                *map(str, dearest),
                "most memory:",
                *map(str, largest),
                "longest waits:",
                *map(str, longest),
                "faults:",
                *self.faults,
            ]
        )


def run(seed: int, seconds: float, most_bytes: int, first: int = 0, postgres: str | None = None) -> Judged:
    """Send requests for so long to a server over SQLite, or over a new database of the PostgreSQL at a URL.

    Raises AssertionError when the server ends or a bystander has to wait.
    """
    judged = Judged()
    with contextlib.ExitStack() as stack:
        server, beside = (stack.enter_context(_server(postgres)) for _ in range(2))
        (pid,) = server.alive()
        watch, watch_beside = (stack.enter_context(_bystander(each.port)) for each in (server, beside))
        until, number = time.monotonic() + seconds, first
        while time.monotonic() < until:
            cost = _judge(server.port, pid, number, draw(seed, number, most_bytes))
            waited = watch()
            cost.waited_seconds = max(waited, default=0.0)
            judged.waited += waited
            judged.costs.append(cost)
            if cost.fault:
                judged.faults.append(f"seed {seed}, {cost.fault}: {cost}")
                print(judged.faults[-1], flush=True)
            number += 1
        judged.waited += watch()
        judged.beside = watch_beside()
        judged.requests = number - first
        broken = server.events("call_broke")
        judged.faults += [f"unexpected error: {event}"[:3000] for event in broken]
        assert server.alive() == {pid}, "the worker ended"
    judged.faults += [judged.slow] if judged.slow else []
    return judged


@contextlib.contextmanager
def _server(postgres: str | None) -> Iterator[Workers]:
    """One worker over a database with two partitioned tables, which have statistics."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hmstats-shapes-")))
        url = f"sqlite:///{folder}/hmstats.sqlite"
        if postgres is not None:
            url = stack.enter_context(fresh_database(postgres))
            migrate.upgrade(url)
        server = stack.enter_context(workers(folder, url, count=1, busy_poll_seconds=0, log_level="info"))
        with Client(("127.0.0.1", server.port)) as client:
            for table in ("t", "own"):
                _make(client, table)
        yield server


def _make(client: Client, table: str) -> None:
    names = ("l", *(f"c{each}" for each in range(20)))
    storage = api.StorageDescriptor(
        cols=[api.FieldSchema(name=name, type="bigint") for name in names], serdeInfo=api.SerDeInfo(parameters={}),
        parameters={},
    )  # fmt: skip
    keys = [api.FieldSchema(name="k", type="string"), api.FieldSchema(name="n", type="bigint")]
    new = api.Table(
        dbName="default", tableName=table, sd=storage, partitionKeys=keys, parameters={"EXTERNAL": "TRUE"},
        tableType="EXTERNAL_TABLE",
    )  # fmt: skip
    client.ask("create_table", tbl=new)
    partitions = [
        api.Partition(values=["a", str(each)], dbName="default", tableName=table, sd=storage, parameters={})
        for each in range(PARTITIONS)
    ]
    assert client.ask("add_partitions", new_parts=partitions).value == PARTITIONS
    statistics = [_statistics(table, names, f"k=a/n={each}") for each in range(PARTITIONS)]
    request = api.SetPartitionsStatsRequest(colStats=[*statistics], needMerge=False, engine="hive")
    assert client.ask("set_aggr_stats_for", request=request).value


def _statistics(table: str, columns: Sequence[str], partition: str) -> Any:
    return api.ColumnStatistics(
        statsDesc=api.ColumnStatisticsDesc(isTblLevel=False, dbName="default", tableName=table, partName=partition),
        statsObj=[
            api.ColumnStatisticsObj(
                colName=name,
                colType="bigint",
                statsData=api.ColumnStatisticsData(
                    longStats=api.LongColumnStatsData(lowValue=1, highValue=9, numNulls=0, numDVs=9)
                ),
            )
            for name in columns
        ],
    )


def _judge(port: int, pid: int, number: int, request: Request) -> Cost:
    (Path("/proc") / str(pid) / "clear_refs").write_text("5")
    memory, processor, began = _status_mb(pid, "VmRSS"), _processor_seconds(pid), time.monotonic()
    outcome = _sent(port, request.data)
    seconds = time.monotonic() - began
    return Cost(
        number=number,
        shape=request.shape,
        form=request.form,
        sent_bytes=len(request.data),
        seconds=seconds,
        processor_seconds=_processor_seconds(pid) - processor,
        grown_mb=_status_mb(pid, "VmHWM") - memory,
        outcome=outcome,
    )


def _sent(port: int, data: bytes) -> str:
    """Sends bytes and reads what comes: what became of them."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as sock:
        received = bytearray()
        try:
            with contextlib.suppress(ConnectionError):
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
            while piece := sock.recv(1 << 16):
                received += piece
        except ConnectionError:
            return "refused"
        except TimeoutError:
            return f"no answer in {PATIENCE_SECONDS:g} seconds"
    strange = next((each for each in _STRANGE if each in received), None)
    return strange.decode() if strange else "answered" if received else "refused"


@contextlib.contextmanager
def _bystander(port: int) -> Iterator["_Watch"]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_ask_and_note, args=(port, theirs), daemon=True)
    process.start()
    assert ours.poll(PATIENCE_SECONDS)
    ours.recv()
    try:
        yield _Watch(ours)
    finally:
        process.terminate()
        process.join()


class _Watch:
    """Tells how long the bystander waited for each answer since it was asked last."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def __call__(self) -> list[float]:
        self._pipe.send("waited")
        assert self._pipe.poll(PATIENCE_SECONDS), "the bystander gets no answer any more"
        waited: list[float] = self._pipe.recv()
        return waited


def _ask_and_note(port: int, pipe: Connection) -> None:
    waited: list[float] = []
    with Client(("127.0.0.1", port)) as client:
        client.socket.settimeout(PATIENCE_SECONDS)
        pipe.send("ready")
        asked = 0
        while True:
            began = time.perf_counter()
            if asked % 2:
                client.ask("get_table", dbname="default", tbl_name="t")
            else:
                client.ask("get_all_databases")
            waited.append(time.perf_counter() - began)
            asked += 1
            time.sleep(_PAUSE_SECONDS)
            if pipe.poll():
                pipe.recv()
                pipe.send(waited)
                waited = []


def _p99(waited: list[float]) -> float:
    return sorted(waited)[len(waited) * 99 // 100]


def _status_mb(pid: int, name: str) -> float:
    lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def _processor_seconds(pid: int) -> float:
    after_name = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / _CLOCK_TICKS

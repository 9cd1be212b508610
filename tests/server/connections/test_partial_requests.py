"""Clients that send a part of a large request each: what they hold together has a limit, and others are served."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.harness.worker_processes import workers
from tests.fuzz.messages import FORMS
from tests.server.requests import request
from tests.server.serving import Client, serving

from hmstats.server.limits import Limits

MOST_BYTES = 4_000_000
WHOLE = request("getOption", key="x" * 1_900_000)


def everything(client: Client) -> bytes:
    """All that a client is told until the end."""
    received = bytearray()
    with contextlib.suppress(ConnectionError):
        while piece := client.socket.recv(1 << 16):
            received += piece
    return bytes(received)


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_the_large_request_that_began_first_is_refused_with_a_sentence(form: Callable[[bytes], bytes]) -> None:
    part, rest = (form(WHOLE)[each] for each in (slice(0, 1_800_000), slice(1_800_000, None)))
    with serving(Limits(max_partial_bytes=MOST_BYTES)) as address, contextlib.ExitStack() as stack:
        small, first, second, third = (stack.enter_context(Client(address)) for _ in range(4))
        data = form(request("getOption", key="small"))
        small.send(data[:40])
        for client in (first, second):
            client.send(part)
            settled(address)
        third.send(part)
        told = everything(first)
        assert b"requests that have come in part may hold 4000000 bytes together, found more; try again" in told
        if part.startswith(b"POST"):
            assert told.startswith(b"HTTP/1.1 413 ")
        for client, end in ((second, rest), (third, rest), (small, data[40:])):
            client.send(end)
            assert client.socket.recv(1 << 16)


def settled(address: tuple[str, int]) -> None:
    """Returns when the server has read what was sent before: it reads in turn."""
    with Client(address) as other:
        for _ in range(50):
            assert other.echoes("unharmed")


def test_a_single_request_may_be_larger() -> None:
    data = request("getOption", key="x" * 1_000_000)
    with serving(Limits(max_partial_bytes=1_000)) as address, Client(address) as client:
        for at in range(0, len(data), 100_000):
            client.send(data[at : at + 100_000])
        assert len(client.reply().value) == 1_000_000
        assert client.echoes("again")


def test_what_is_whole_or_given_up_counts_no_more() -> None:
    part = WHOLE[:1_800_000]
    with serving(Limits(max_partial_bytes=MOST_BYTES)) as address, Client(address) as first:
        first.send(part)
        for _ in range(5):
            with Client(address) as other:
                other.send(part)
                settled(address)
        for _ in range(5):
            with Client(address) as other:
                other.send(WHOLE)
                assert len(other.reply().value) == 1_900_000
        first.send(WHOLE[1_800_000:])
        assert len(first.reply().value) == 1_900_000


@pytest.mark.slow
def test_a_workers_memory_stays_bounded(tmp_path: Path) -> None:
    """300 clients send 5 MB each of which nothing becomes: 1.5 GB, of which 32 MB are held at a time."""
    part = request("get_table", dbname="x" * 10_000_000, tbl_name="t")[:5_000_000]
    url = f"sqlite:///{tmp_path}/hmstats.sqlite"
    with workers(tmp_path, url, count=1, max_partial_bytes=32_000_000) as server, contextlib.ExitStack() as stack:
        (pid,) = server.alive()
        before = peak_mb(pid)
        other = stack.enter_context(Client(("127.0.0.1", server.port)))
        for _ in range(300):
            client = stack.enter_context(Client(("127.0.0.1", server.port)))
            with contextlib.suppress(ConnectionError):
                client.send(part)
            assert other.ask("get_all_databases").value == ["default"]
        assert server.alive() == {pid}
        assert peak_mb(pid) - before < 150


def peak_mb(pid: int) -> float:
    """The most memory that a process has had, in MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024

"""`hmstats serve` as a process: what it says, how it ends, what its workers share."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.benchmarks.harness.processes import family_of
from tests.faults.harness.worker_processes import Workers, metastore_of, wait_until, workers
from tests.fixtures.servers import HMSTATS

from hmstats.client import connect
from hmstats.server.sockets.port import Port
from hmstats.wire.idl import hive_metastore as api

pytestmark = pytest.mark.slow


def _url(folder: Path) -> str:
    return f"sqlite:///{folder}/hmstats.sqlite"


def _ask(server: Workers, times: int) -> None:
    for _ in range(times):
        with metastore_of(server.port) as metastore:
            assert metastore.client().getName() == "hmstats"


def test_an_address_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with Port(("127.0.0.1", 0)) as port, port.listen():
        number = port.address[1]
        for flags in (["--port", str(number)], ["--port", "0", "--http-port", str(number)]):
            ended = subprocess.run(
                [HMSTATS, "serve", *flags], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert (ended.returncode, ended.stdout) == (2, "")
            assert ended.stderr == f"hmstats: cannot listen on 127.0.0.1:{number}: Address already in use\n"


@pytest.mark.parametrize("host", ["::1", "127.0.0.1"])
def test_the_address_it_says_can_be_asked(tmp_path: Path, host: str) -> None:
    """By a client, and by a gateway that has it for its upstream."""
    first = ["--database", _url(tmp_path), "--warehouse", str(tmp_path / "warehouse")]
    with listening(tmp_path, "--host", host, *first) as address:
        place = tmp_path / "gateway"
        place.mkdir()
        with listening(
            place, "--host", host, "--database", _url(place), "--upstream", f"thrift://{address}"
        ) as gateway:
            for each in (address, gateway):
                with connect(f"thrift://{each}") as service:
                    assert service.table_types() == []


@contextmanager
def listening(folder: Path, *flags: str) -> Iterator[str]:
    """The address that a server of these flags says that it listens on."""
    command = [HMSTATS, "serve", "--port", "0", *flags]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    try:
        line = server.stdout.readline()
        assert line.startswith("listening on "), (folder / "server.log").read_text()
        yield line.removeprefix("listening on ").strip()
    finally:
        server.terminate()
        server.communicate(timeout=60)


def test_a_database_that_cannot_be_served_is_one_sentence(tmp_path: Path) -> None:
    command = [HMSTATS, "serve", "--port", "0", "--database", "sqlite:////nowhere/at.all"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("hmstats: ")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_it(tmp_path: Path, number: signal.Signals) -> None:
    command = [HMSTATS, "serve", "--port", "0", "--workers", "3"]
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout is not None
    assert server.stdout.readline().startswith("listening on 127.0.0.1:")
    server.send_signal(number)
    _, log = server.communicate(timeout=60)
    assert server.returncode == 0
    assert log.count('"status": 0, "event": "worker_ended"') == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_before_clients_are_served_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    server = subprocess.Popen([HMSTATS, "serve", "--port", "0"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    wait_until(lambda: list(temporary.iterdir()) != [])
    server.send_signal(number)
    _, said = server.communicate(timeout=60)
    assert (server.returncode, said) == (128 + number, b"")
    assert list(temporary.iterdir()) == []


def test_a_server_alone_keeps_other_writers_out(tmp_path: Path) -> None:
    """What a single worker over SQLite is unless it is told otherwise."""
    url = _url(tmp_path)
    with workers(tmp_path, url, 1) as server:
        _ask(server, 1)
        for command in (["serve", "--port", "0"], ["migrate"]):
            ended = subprocess.run(
                [HMSTATS, *command, "--database", url], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert (ended.returncode, ended.stdout) == (2, "")
            assert ended.stderr.startswith("hmstats: database sqlite")
            assert ended.stderr.endswith(" by another server (setting exclusive): nothing was changed\n")
        _ask(server, 1)
    with workers(tmp_path, url, 1, exclusive=False) as server, workers(tmp_path, url, 1, exclusive=False) as other:
        _ask(server, 1)
        _ask(other, 1)


def test_a_server_alone_that_is_told_to_reload_or_killed_goes_on_alone(tmp_path: Path, postgres_url: str) -> None:
    with workers(tmp_path, postgres_url, 1, exclusive=True) as server, metastore_of(server.port) as metastore:
        metastore.client().create_database(api.Database(name="one"))
        (before,) = server.alive()
        server.kill(before)
        wait_until(lambda: server.whole() and server.alive() != {before})
        with metastore_of(server.port) as again:
            assert again.client().get_database("one").name == "one"
            again.client().create_database(api.Database(name="two"))


def test_several_workers_are_not_alone(tmp_path: Path) -> None:
    command = [HMSTATS, "serve", "--port", "0", "--workers", "2", "--exclusive"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert (
        ended.stderr == "hmstats: a server with exclusive use of the database must have one worker, found workers = 2\n"
    )


def test_counters_are_of_all_workers_together(tmp_path: Path) -> None:
    with workers(tmp_path, _url(tmp_path)) as server:
        _ask(server, 30)
        with metastore_of(server.port) as metastore:
            assert metastore.client().getCounter("getName") == 30
        assert len({event["worker"] for event in server.events("call")}) == 2
        assert server.metric('hmstats_rpc_seconds_count{method="getName",outcome="ok"}') == 30


@pytest.mark.parametrize(("given", "heaps"), [(None, "1"), ("4", "4")])
def test_a_worker_has_one_heap_unless_it_is_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None, heaps: str
) -> None:
    if given is None:
        monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    else:
        monkeypatch.setenv("MALLOC_ARENA_MAX", given)
    with workers(tmp_path, _url(tmp_path), 1) as server:
        (pid,) = server.alive()
        environment = Path(f"/proc/{pid}/environ").read_text().split("\0")
    assert f"MALLOC_ARENA_MAX={heaps}" in environment


def test_a_hangup_reads_the_settings_anew(tmp_path: Path) -> None:
    settings = tmp_path / "hmstats.toml"
    settings.write_text("threads = 2\n")
    with workers(tmp_path, _url(tmp_path)) as server:
        before = server.alive()
        _ask(server, 1)
        assert server.events("connection_ended") == []
        settings.write_text('log_level = "debug"\n')
        os.kill(server.parent(), signal.SIGHUP)
        wait_until(lambda: not before & server.alive())
        _ask(server, 1)
        wait_until(lambda: len(server.events("connection_ended")) == 1)


def _fork_servers(server: Workers) -> set[int]:
    """The ids of the processes below the parent that are no workers."""
    return set(family_of(server.parent())) - server.alive() - {server.parent()}


def test_workers_are_forked_by_a_process_of_one_thread(tmp_path: Path) -> None:
    """Another thread may hold a lock when a worker is forked, which nobody would release there."""
    with workers(tmp_path, _url(tmp_path)) as server:
        (pid,) = _fork_servers(server)
        assert [each.name for each in Path(f"/proc/{pid}/task").iterdir()] == [str(pid)]


def test_a_fork_server_that_is_killed_is_replaced_when_a_worker_is_needed(tmp_path: Path) -> None:
    with workers(tmp_path, _url(tmp_path)) as server:
        before, (fork_server,) = server.alive(), _fork_servers(server)
        server.kill(fork_server)
        _ask(server, 10)
        server.kill(min(before))
        wait_until(lambda: server.whole() and len(server.alive() - before) == 1)
        (after,) = _fork_servers(server)
        assert after != fork_server
        _ask(server, 10)


def test_a_hangup_loads_the_code_anew(tmp_path: Path) -> None:
    """An upgrade that has been installed is in force after it."""
    with workers(tmp_path, _url(tmp_path)) as server:
        before, fork_servers = server.alive(), _fork_servers(server)
        os.kill(server.parent(), signal.SIGHUP)
        wait_until(lambda: not before & server.alive() and server.whole())
        wait_until(lambda: len(_fork_servers(server)) == 1)
        assert not _fork_servers(server) & fork_servers


def test_settings_without_meaning_keep_the_workers_that_are_there(tmp_path: Path) -> None:
    settings = tmp_path / "hmstats.toml"
    settings.touch()
    with workers(tmp_path, _url(tmp_path)) as server:
        before = server.alive()
        settings.write_text("threads = 0\n")
        os.kill(server.parent(), signal.SIGHUP)
        wait_until(lambda: len(server.events("worker_ended")) == 1)
        assert "setting threads: " in server.log.read_text()
        _ask(server, 10)
        assert server.alive() == before

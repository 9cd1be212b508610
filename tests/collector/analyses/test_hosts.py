"""On a Spark cluster of several hosts: executors that are lost, tasks that run twice, executors that come later.

All that is stored is what an analysis on one machine stores. The hosts are network namespaces, which need root.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pyspark
import pytest
from tests.collector.parted import NAMES, ROWS, parted, stored
from tests.fixtures.servers import serving
from tests.fixtures.spark.hosts import (
    EVENT_LOG,
    Cluster,
    Host,
    HostsUnavailable,
    connected_hosts,
    events_of,
    spark_cluster,
)

from hmstats.collector.scan.files.splits import TASKS_PER_CORE
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.slow]

LEAST_CORES = 2
"""Spark takes a session for so large while it has no executor, or one of one core."""
LATE_SECONDS = 4
"""How much later executors start than they could."""
PROGRAM = Path(__file__).with_name("hosts_session.py")
BOUND_SECONDS = 240
"""How long a session may take until a task of it hangs, and until it ends, on a busy machine."""
LOG = "session.log"
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
TWO_HOSTS = {
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}
"""An executor on each of two hosts, and no task before both are there."""
NOTICE = {
    "spark.network.timeout": "10s",
    "spark.network.timeoutInterval": "2s",
    "spark.executor.heartbeatInterval": "1s",
}
"""After so long without a word the driver takes an executor for lost."""
TWINS = {"spark.speculation": "true", "spark.speculation.quantile": "0.5", "spark.speculation.multiplier": "1.5"}
GROWTH = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "4",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
}


class Place(NamedTuple):
    """A cluster of two workers with two cores each, and a server that its hosts reach."""

    cluster: Cluster
    port: int
    folder: Path

    @property
    def address(self) -> str:
        """Where the server listens, and drivers run."""
        return self.cluster.network.address


class Seen(NamedTuple):
    """What a session's event log says of its executors, by id, and of its tasks, each with its stage."""

    hosts: dict[str, str]
    joined: dict[str, int]
    lost: dict[str, str]
    started: list[dict[str, Any]]
    ended: list[dict[str, Any]]

    def succeeded(self) -> list[dict[str, Any]]:
        """The tasks that ended well."""
        return [each for each in self.ended if not each["Failed"] and not each["Killed"]]

    def hosts_lost(self) -> list[str]:
        """The hosts of executors that joined and were lost."""
        return [self.hosts[each] for each in self.lost if each in self.hosts]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hosts")
    with ExitStack() as stack:
        try:
            network = stack.enter_context(connected_hosts(3))
        except HostsUnavailable as error:
            pytest.skip(str(error))
        settings = {"host": network.address, "send_sketches": True}
        port = stack.enter_context(serving(folder, settings=settings, warehouse=str(folder)))
        yield Place(stack.enter_context(spark_cluster(network, folder, cores=2)), port, folder)


@pytest.fixture
def place(running: Place) -> Iterator[Place]:
    """The cluster with all of its hosts; those that a test unplugs are there again for the next one."""
    yield running
    for host in running.cluster.workers:
        host.plug()
    running.cluster.wait_for_workers()


@pytest.fixture(scope="module")
def expected(running: Place) -> dict[str, Any]:
    """What the metastore says after an analysis on one machine."""
    name = parted(running.port, running.folder / "alone", host=running.address)
    with submitted(running, name, running.folder, {"spark.master": "local[2]"}) as process:
        check_end(process, running.folder)
    return stored(running.port, name, host=running.address)


@pytest.mark.sampled
def test_hosts_have_a_loopback_of_their_own(place: Place) -> None:
    program = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)"
    host = place.cluster.workers[0]
    with socket.create_server(("127.0.0.1", 0)) as here:
        asked = [(place.address, place.port), here.getsockname()]
        commands = [host.command(sys.executable, "-c", program, address, str(port)) for address, port in asked]
        ended = [subprocess.run(each, capture_output=True, text=True, check=False) for each in commands]
    assert [each.returncode for each in ended] == [0, 1], ended
    assert "ConnectionRefusedError" in ended[1].stderr


def test_two_hosts_store_what_one_machine_stores(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    seen = analysed(place, expected, tmp_path, TWO_HOSTS)
    assert {each["Host"] for each in seen.succeeded()} == {each.address for each in place.cluster.workers}
    assert not seen.lost


@pytest.mark.sampled
def test_an_executor_that_is_killed_changes_nothing(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    gone = list[str]()

    def kill(host: Host) -> None:
        gone.append(host.address)
        (executor,) = host.processes_of("CoarseGrainedExecutorBackend")
        os.kill(executor, signal.SIGKILL)

    seen = analysed(place, expected, tmp_path, TWO_HOSTS, "stuck", kill)
    assert gone == seen.hosts_lost()


def test_a_host_that_is_unplugged_changes_nothing(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    """It goes while a task on it merges what others have read, so what it has read itself is read again."""
    gone = list[str]()

    def unplug(host: Host) -> None:
        gone.append(host.address)
        host.unplug()

    seen = analysed(place, expected, tmp_path, TWO_HOSTS | NOTICE, "stuck-merging", unplug)
    assert gone == seen.hosts_lost()
    read = [each["Index"] for each in seen.succeeded() if each["Stage"] == 0]
    assert len(read) > len(set(read))


def test_a_twin_of_a_slow_task_counts_nothing_twice(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    seen = analysed(place, expected, tmp_path, TWO_HOSTS | TWINS, "stuck")
    (twin,) = [each for each in seen.succeeded() if each["Speculative"]]
    first = next(each for each in seen.started if (each["Stage"], each["Index"]) == (twin["Stage"], twin["Index"]))
    assert first["Task ID"] not in {each["Task ID"] for each in seen.succeeded()}
    assert first["Host"] != twin["Host"]


def test_executors_that_come_later_have_tasks(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    """The job is cut for the executors that may come, not for the one that is there."""
    seen = analysed(place, expected, tmp_path, GROWTH, "slow", group_rows=ROWS // 4)
    began = seen.started[0]["Launch Time"]
    busy = {each["Executor ID"] for each in seen.succeeded()}
    assert {each for each, time in seen.joined.items() if each in busy and time > began}
    assert len({each["Index"] for each in seen.started if each["Stage"] == 0}) > TASKS_PER_CORE * LEAST_CORES


def test_a_cluster_without_a_limit_is_used_whole(place: Place, expected: dict[str, Any], tmp_path: Path) -> None:
    """The job is cut for all cores, though executors join seconds after the session began."""
    java = tmp_path / "slow" / "bin" / "java"
    java.parent.mkdir(parents=True)
    real = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else shutil.which("java")
    java.write_text(f'#!/bin/sh\nsleep {LATE_SECONDS}\nexec "{real}" "$@"\n')
    java.chmod(0o755)
    slow = {"spark.executorEnv.JAVA_HOME": str(java.parent.parent)}
    seen = analysed(place, expected, tmp_path, slow, group_rows=ROWS // 4)
    assert len(seen.joined) == 4
    assert len({each["Index"] for each in seen.started if each["Stage"] == 0}) > TASKS_PER_CORE * LEAST_CORES


def analysed(
    place: Place,
    expected: Mapping[str, Any],
    folder: Path,
    conf: dict[str, str],
    harm: str = "",
    act: Callable[[Host], None] | None = None,
    group_rows: int = ROWS,
) -> Seen:
    """Analyse a new table on the cluster; fails unless all that is stored is as expected.

    `act` is done to the host of a task that hangs.
    """
    name = parted(place.port, place.folder / folder.name / "data", host=place.address, group_rows=group_rows)
    (folder / "events").mkdir()
    logged = EVENT_LOG | {"spark.eventLog.dir": (folder / "events").as_uri()}
    with submitted(place, name, folder, place.cluster.conf() | logged | conf, harm) as process:
        if act is not None:
            act(stuck_host(place, folder, process))
        check_end(process, folder)
    assert stored(place.port, name, host=place.address) == expected
    return seen_in(folder / "events")


def submitted(
    place: Place, name: TableName, folder: Path, conf: Mapping[str, str], harm: str = ""
) -> "subprocess.Popen[str]":
    """A program that analyses a table."""
    flags = [flag for key, value in conf.items() for flag in ("--conf", f"{key}={value}")]
    arguments = [f"{name.database}.{name.table}", f"thrift://{place.address}:{place.port}", str(folder), harm]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK", "PYTHON"))}
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": place.address, "HMSTATS_TEST_HOST": place.address}
    command = [str(SUBMIT), *flags, str(PROGRAM), *arguments]
    with (folder / LOG).open("w") as log:
        return subprocess.Popen(command, cwd=folder, env=clean | own, stdout=subprocess.PIPE, stderr=log, text=True)


def check_end(process: "subprocess.Popen[str]", folder: Path) -> None:
    """Fail unless the program ends well and has read every row once."""
    try:
        said, _ = process.communicate(timeout=BOUND_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, errors_in(folder)
    assert json.loads(said.splitlines()[-1]) == {"rows": len(NAMES) * ROWS, "partitions": len(NAMES), "spooled": 0}


def errors_in(folder: Path) -> str:
    """What a program said last, without the traces of Java."""
    lines = (folder / LOG).read_text().splitlines()
    return "\n".join([each for each in lines if not each.startswith("\tat ") and " INFO " not in each][-50:])


def stuck_host(place: Place, folder: Path, process: "subprocess.Popen[str]") -> Host:
    """The host of the task that hangs, once it does."""
    until = time.monotonic() + BOUND_SECONDS
    while not (found := list(folder.glob("stuck on *"))):
        assert process.poll() is None, errors_in(folder)
        if time.monotonic() > until:
            process.kill()  # or it would hang for minutes
            pytest.fail(f"no task hangs after {BOUND_SECONDS} s: {errors_in(folder)}")
        time.sleep(0.1)
    address = found[0].name.removeprefix("stuck on ")
    return next(each for each in place.cluster.workers if each.address == address)


def seen_in(folder: Path) -> Seen:
    """What the event log in a folder says."""
    seen = Seen({}, {}, {}, [], [])
    for event in events_of(folder):
        match event["Event"]:
            case "SparkListenerExecutorAdded":
                seen.hosts[event["Executor ID"]] = event["Executor Info"]["Host"]
                seen.joined[event["Executor ID"]] = event["Timestamp"]
            case "SparkListenerExecutorRemoved":
                seen.lost[event["Executor ID"]] = event["Removed Reason"]
            case "SparkListenerTaskStart":
                seen.started.append({"Stage": event["Stage ID"], **event["Task Info"]})
            case "SparkListenerTaskEnd":
                seen.ended.append({"Stage": event["Stage ID"], **event["Task Info"]})
    return seen

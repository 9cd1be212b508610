"""Refreshers that are killed at random, beside each other: all work is done, and none of it twice."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import finding_tests

from hmstats.client import connect

COLUMNS = {"l": "bigint"}
TABLES, PARTITIONS = 6, 12


@pytest.fixture
def metastore(our_metastore: Metastore) -> Metastore:
    for number in range(TABLES):
        our_metastore.table(f"t{number}", COLUMNS, keys=("p",))
        our_metastore.add_partitions(*[(str(each),) for each in range(PARTITIONS)], table=f"t{number}", columns=COLUMNS)
    return our_metastore


def refresher(metastore: Metastore, done: Path) -> subprocess.Popen[bytes]:
    address = f"thrift://127.0.0.1:{metastore.port}"
    command = [sys.executable, "-m", "tests.collector.refresh.refresher_process"]
    return subprocess.Popen([*command, address, str(done), "0.05", metastore.database], env=finding_tests())


@pytest.mark.slow
def test_two_refreshers_killed_at_random_do_all_work_once(metastore: Metastore, tmp_path: Path) -> None:
    chance, done = random.Random(7), tmp_path / "done"
    running = [refresher(metastore, done) for _ in range(2)]
    kills, give_up = 0, time.monotonic() + 120
    try:
        while any(each.poll() is None for each in running) and time.monotonic() < give_up:
            time.sleep(chance.uniform(0.8, 2.5))
            victim = chance.randrange(2)
            if kills < 4 and running[victim].poll() is None:
                running[victim].send_signal(signal.SIGKILL)
                running[victim].wait()
                kills += 1
                running[victim] = refresher(metastore, done)
        assert [each.wait(timeout=60) for each in running] == [0, 0]
    finally:
        for each in running:
            each.kill()
    lines = [tuple(line.split()[:2]) for line in done.read_text().splitlines()]
    twice = {place: number for place, number in Counter(lines).items() if number > 1}
    assert twice == {}
    assert kills >= 2
    assert len(lines) >= TABLES * PARTITIONS - kills  # a killed one may have stored a partition before it said so
    with connect(f"thrift://127.0.0.1:{metastore.port}") as service:
        assert {each.health.health for each in service.health.tables(metastore.database)} == {100}
        runs, _ = service.runs.listed(metastore.database)
    outcomes = Counter(each.outcome.value for each in runs)
    assert outcomes["running"] == 0
    assert outcomes["lost"] <= kills
    assert outcomes["failed"] == 0

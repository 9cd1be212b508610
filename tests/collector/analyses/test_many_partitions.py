"""Thousands of partitions in one job: all are stored, and the driver stays small.

HMSTATS_TEST_ANALYSED_PARTITIONS says how many (10,000 on 2026-11-27).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.collector.analyses.many_partitions import ROWS_EACH

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PARTITIONS = int(os.environ.get("HMSTATS_TEST_ANALYSED_PARTITIONS", "3000"))
CHECKOUT = Path(__file__).resolve().parents[3]
DRIVER_MEGABYTES = 2048


def test_the_driver_stays_small(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.collector.analyses.many_partitions", str(PARTITIONS), str(tmp_path)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert (found["partitions"], found["rows"]) == (PARTITIONS, PARTITIONS * ROWS_EACH)
    assert found["distinct"] == {"stored": PARTITIONS, "ids": pytest.approx(PARTITIONS * ROWS_EACH, rel=0.05)}
    # The JVM also runs the tasks here; its heap is limited to 2 GB.
    assert found["python_megabytes"] + found["jvm_megabytes"] < DRIVER_MEGABYTES

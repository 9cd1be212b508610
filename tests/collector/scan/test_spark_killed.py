"""Spark's Java process is killed in the middle of a job: one sentence says so, and nothing hangs."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
from hmstats.collector.scan.task_errors import translate_errors
from hmstats.collector.spark.session import spark_session
from hmstats.errors import HmstatsError


def kill(java):
    for each in os.popen(f"pgrep -P {java}").read().split() + [java]:
        os.kill(int(each), signal.SIGKILL)


try:
    with spark_session("thrift://127.0.0.1:1", master="local[1]", conf={}) as spark, translate_errors():
        threading.Timer(3, kill, [spark.sparkContext._gateway.proc.pid]).start()
        spark.sparkContext.parallelize([1], 1).map(lambda _: time.sleep(300)).collect()
except HmstatsError as error:
    print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_killed_spark_is_a_sentence() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.startswith("AnalysisIncomplete: Spark's Java process has ended in the middle"), done.stderr
    assert "Traceback" not in done.stderr

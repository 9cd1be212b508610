"""A job whose virtual environment is not activated: tasks run in the driver's Python, or say what is wrong."""

import os
import subprocess
import sys
import textwrap
import venv
from pathlib import Path

import pytest

from hmstats.collector.scan.workers_python import is_local_master

pytestmark = [pytest.mark.spark, pytest.mark.slow]

JOB = """
    import sys
    from pyspark.sql import SparkSession
    from hmstats import collector
    from hmstats.errors import HmstatsError

    metastore, folder = sys.argv[1:]
    conf = {"spark.hadoop.hive.metastore.uris": metastore, "spark.ui.enabled": "false"}
    spark = SparkSession.builder.master("local[1]").config(map=conf).enableHiveSupport().getOrCreate()
    spark.sql("DROP DATABASE IF EXISTS job CASCADE")
    spark.sql(f"CREATE DATABASE job LOCATION '{folder}'")
    spark.range(5).write.format("orc").saveAsTable("job.t")
    try:
        print(collector.analyze(spark, "job.t").rows)
    except HmstatsError as error:
        print(f"{type(error).__name__}: {error}")
"""


def run(metastore: str, tmp_path: Path, **environment: str) -> str:
    """The last line of a job that the environment's Python runs by its path, with no word of it in PATH."""
    job = tmp_path / "job.py"
    job.write_text(textwrap.dedent(JOB))
    own = Path(sys.executable).parent
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "VIRTUAL_ENV"))}
    path = ":".join(each for each in os.environ["PATH"].split(":") if Path(each) != own)
    done = subprocess.run(
        [sys.executable, job, metastore, (tmp_path / "data").as_uri()],
        env={**clean, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1]


def test_the_drivers_python_is_used_without_being_named(spark_metastore: str, tmp_path: Path) -> None:
    assert run(spark_metastore, tmp_path) == "5"


def test_a_python_without_hmstats_is_named_in_a_sentence(spark_metastore: str, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False)
    python = str(tmp_path / "bare" / "bin" / "python")
    said = run(spark_metastore, tmp_path, PYSPARK_PYTHON=python)
    assert said.startswith(f"SettingsError: Spark's tasks run in {python}, which has no "), said
    assert "set PYSPARK_PYTHON to a Python that has hmstats" in said


@pytest.mark.parametrize(
    ("master", "here"), [("local", True), ("local[*]", True), ("local-cluster[1,1,1024]", True), ("yarn", False)]
)
def test_where_tasks_run(master: str, here: bool) -> None:
    assert is_local_master(master) == here

"""An archive of the Java classes of a Spark session, so that each session of the tests need not load them anew.

    python -m tests.peers.spark_classes

A Spark session spends half of its first ten seconds on classes that Java loads. Java writes those that one process has
loaded to an archive (class data sharing), and maps them into later processes of the same Java and the same jars. The
archive is made once, and lies beside the jars of Hive. A session with other jars starts without it.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.peers.cache import CACHE, filling, is_filled
from tests.peers.start_hive import JAVA, pyspark_jars

LITTLE_WORK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For a process that lives for minutes among others: no second compiler, no threads that collect garbage."""
_OPTIONS = "SPARK_SUBMIT_OPTS"
_QUIET = "-Xlog:disable"
"""Without this option Java reports each class that the archive cannot hold, and sessions with other jars."""


def java_options() -> str:
    """The options for the Java of a session: with the archive, if there is one."""
    archive = _archive()
    return f"{LITTLE_WORK} -XX:SharedArchiveFile={archive} {_QUIET}" if is_filled(archive.parent) else LITTLE_WORK


def _archive() -> Path:
    try:
        version = subprocess.run([JAVA, "-version"], capture_output=True, check=False).stderr
    except FileNotFoundError:  # the tests that need Java say so
        version = b""
    key = hashlib.sha256(version + os.fsencode(pyspark_jars())).hexdigest()[:12]
    return CACHE / f"spark-classes-{key}" / "classes.jsa"


def make_archive() -> None:
    """Make the archive, unless it is there."""
    archive = _archive()
    with filling(archive.parent) as empty:
        if not empty:
            return
        os.environ[_OPTIONS] = f"{LITTLE_WORK} -XX:ArchiveClassesAtExit={archive} {_QUIET}"
        with tempfile.TemporaryDirectory() as folder:
            _run_session(Path(folder))
        if not archive.exists():
            sys.exit(f"{archive} was not written by {JAVA}")


def _run_session(folder: Path) -> None:
    """Do what most sessions of the tests do, and wait until Java has ended."""
    from pyspark import SparkContext
    from tests.fixtures.servers import serving

    import hmstats
    from hmstats.collector.spark.session import local_session

    with serving(folder) as port:
        warehouse = {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}
        spark = local_session(f"thrift://127.0.0.1:{port}", master="local[2]", conf=warehouse)
        spark.sql("CREATE TABLE of_files (id BIGINT, name STRING, part BIGINT) USING parquet PARTITIONED BY (part)")
        spark.sql("INSERT INTO of_files SELECT id, cast(id AS string), id % 3 FROM range(1000)")
        spark.sql("CREATE TABLE of_hive STORED AS orc AS SELECT part, count(*) AS rows FROM of_files GROUP BY part")
        spark.sql("SELECT * FROM of_files JOIN of_hive USING (part) ORDER BY id").collect()
        hmstats.analyze(spark, "default.of_files")
        hmstats.analyze(spark, "default.of_hive")
        spark.stop()
        java = SparkContext._gateway.proc  # nothing else waits for the end of Java
        java.stdin.close()
        java.wait()


if __name__ == "__main__":
    make_archive()

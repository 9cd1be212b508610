"""Checks of a Spark session: its start, its metastore and warehouse, and the Python of its tasks.

Importing this module imports Spark.
"""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession

from hmstats.cli.diagnosis.finding import Finding, ok, problem, warning
from hmstats.client import connect
from hmstats.collector.scan.task_errors import translate_errors
from hmstats.collector.scan.workers_python import use_driver_python
from hmstats.collector.spark.session import spark_session
from hmstats.collector.spark.session_settings import hadoop_settings, session_metastore
from hmstats.collector.spark.warehouses import difference, warehouse_of
from hmstats.errors import HmstatsError
from hmstats.model.catalog.location import LOCAL, parts_of
from hmstats.version import __version__

_MOST_SECONDS_OFF = 5.0


def session(metastore: str, *, master: str | None, conf: Mapping[str, str]) -> Iterator[Finding]:
    """Start Spark as `analyze` does, or use the active session, and check it."""
    try:
        with spark_session(metastore, master=master, conf=conf) as spark:
            yield ok("Spark", f"{spark.version} at {spark.sparkContext.master}")
            yield from _metastore(spark)
            yield from _tasks(spark)
    except HmstatsError as error:
        yield problem("Spark", str(error), "mend what it says, then run `hmstats doctor --spark` again")


def _metastore(spark: SparkSession) -> Iterator[Finding]:
    try:
        address = session_metastore(spark)
        databases = spark.sql("SHOW DATABASES").count()
    except Exception as error:  # noqa: BLE001 - Spark and Java raise whatever they like, and the line says it
        advice = "set spark.hadoop.hive.metastore.uris=thrift://HOST:PORT and use a Spark with Hive support"
        yield problem("Spark's metastore", _first_line(error), advice)
        return
    yield ok("Spark's metastore", f"{address}, {databases:,} {'database' if databases == 1 else 'databases'}")
    with connect(address) as service:
        found = difference(spark, service)
        place = service.config_value("metastore.warehouse.dir")
    if found is None:
        yield ok("Spark's warehouse", warehouse_of(spark))
    else:
        yield warning("Spark's warehouse", found.sentence, found.advice)
    if place:
        yield _scheme(spark, place)


def _scheme(spark: SparkSession, place: str) -> Finding:
    """Whether Spark's Hadoop has a file system for the scheme of the server's warehouse."""
    scheme = parts_of(place)[0]
    if scheme == LOCAL:
        return ok("scheme", f"Spark reads {scheme}:")
    java: Any = spark.sparkContext._jvm  # noqa: SLF001 - Hadoop is known to the JVM only
    conf: Any = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 - the same
    try:
        java.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, conf)
    except Exception as error:  # noqa: BLE001 - as above
        s3a = hadoop_settings(spark)("fs.s3a.impl") or "org.apache.hadoop.fs.s3a.S3AFileSystem"
        advice = f"add the package of its file system, such as hadoop-aws, and fs.{scheme}.impl={s3a} for s3://"
        return problem("scheme", f"Spark has no file system for {scheme}://: {_first_line(error)}", advice)
    return ok("scheme", f"Spark reads {scheme}://")


def _tasks(spark: SparkSession) -> Iterator[Finding]:
    use_driver_python(spark)
    before = time.time()
    try:
        with translate_errors():
            python, version, there = spark.sparkContext.parallelize([0], 1).map(_of_task).collect()[0]
    except Exception as error:  # noqa: BLE001 - as above
        advice = "set PYSPARK_PYTHON to a Python of the driver's version that has hmstats, on every machine"
        yield problem("Spark's tasks", _first_line(error), advice)
        return
    after = time.time()
    if version != __version__:
        yield problem(
            "Spark's tasks",
            f"they have hmstats {version}, the driver {__version__}",
            "install the same hmstats on every machine",
        )
    else:
        yield ok("Spark's tasks", f"run in {python} with hmstats {version}")
    off = max(before - there, there - after, 0.0)
    if off > _MOST_SECONDS_OFF:
        yield warning("Spark's clocks", f"those of the tasks are off by {off:,.1f} seconds", "set all by NTP")


def _of_task(_: int) -> tuple[str, str, float]:
    """The Python, the hmstats and the time of a task; runs in the task."""
    import sys  # noqa: PLC0415 - of the task, not of the driver

    import hmstats  # noqa: PLC0415 - the same

    return sys.executable, hmstats.__version__, time.time()


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

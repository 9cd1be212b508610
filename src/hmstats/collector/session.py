"""Spark for commands: the session that is there already, or one of our own in this process and its children."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from hmstats.errors import SettingsError

LOCAL = "local[*]"
_QUIET = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = "127.0.0.1"
_URIS = "spark.hadoop.hive.metastore.uris"
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable by which spark-submit tells a Python program where its JVM listens."""
_LOCAL_MASTER = re.compile(r"local(?:\[\s*(?P<threads>\*|\d+)[^\]]*\])?")


@contextmanager
def spark_session(metastore: str | None, *, master: str | None, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """The active session with these settings; under spark-submit the one of its master; else one of our own.

    `metastore` is `thrift://HOST:PORT`; only a session that is there already or submitted may know its own (None).
    A session that was made here is stopped. Raises SettingsError as local_session does.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield SparkSession.builder.config(map=dict(conf)).getOrCreate() if conf else active
        return
    if _SUBMITTED in os.environ:
        settings = dict(conf) if metastore is None else {_URIS: metastore, **conf}
        session = SparkSession.builder.appName("hmstats").config(map=settings).enableHiveSupport().getOrCreate()
    else:
        session = local_session(metastore or "", master=master or LOCAL, conf=conf)
    try:
        yield session
    finally:
        session.stop()


def session_is_given() -> bool:
    """Whether Spark was started by someone else, who has chosen its master and its settings."""
    return SparkSession.getActiveSession() is not None or _SUBMITTED in os.environ


def local_session(metastore: str, *, master: str = LOCAL, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with Hive support whose catalog is the metastore `thrift://HOST:PORT`. `conf` wins over all else.

    Nobody outside of this machine can talk to it, unless its master is a cluster. Raises SettingsError when there is no
    Java to start it.
    """
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    alone: dict[str, str] = {}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
        alone = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    settings = {
        "spark.app.name": "hmstats",
        "spark.master": master,
        **alone,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        _URIS: metastore,
        **(conf or {}),
    }
    return SparkSession.builder.config(map=settings).enableHiveSupport().getOrCreate()


def cores_of(master: str) -> int | None:
    """The cores that a local master uses; None for a cluster, which knows them itself."""
    found = _LOCAL_MASTER.fullmatch(master)
    if found is None:
        return None
    threads = found["threads"] or "1"
    return (os.cpu_count() or 1) if threads == "*" else int(threads)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        raise SettingsError(f"Spark needs Java 17 or newer, found none at {java or 'any place of PATH'}")

"""Spark for commands: the active session, or a new local one."""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from hmstats.collector.spark.classic import API_MODE, CLASSIC, require_classic_settings
from hmstats.collector.spark.signals import signals_deferred, without_traces_of_interrupts
from hmstats.collector.spark.spark_reasons import first_reason
from hmstats.errors import HmstatsError, SettingsError
from hmstats.java import LEAST_JAVA, java_path, java_version
from hmstats.process_user import has_name, user_name

LOCAL = "local[*]"
_QUIET = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = "127.0.0.1"
_MASTER = "spark.master"
_WITH_HIVE = ("spark.sql.catalogImplementation", "hive")
_JAVA_ENDED = "JAVA_GATEWAY_EXITED"
_URIS = "spark.hadoop.hive.metastore.uris"
_TLS = "spark.hadoop.hive.metastore.use.SSL"
OWN = "spark.hmstats.own"
"""A setting that marks a session which hmstats has created for itself, and in which no table is created."""
_SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""The variable in which spark-submit passes the port of the JVM to a Python program."""
_LOCAL_MASTER = re.compile(r"local(?:\[\s*(?P<threads>\*|\d+)[^\]]*\])?")


@contextmanager
def spark_session(metastore: str | None, *, master: str | None, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """The active session with these settings; under spark-submit the one of its master; otherwise one of our own.

    `metastore` is `thrift://HOST:PORT`, or None for the one of an active or submitted session. A session that was
    created here is stopped at the end. Signals that come while it starts are handled once it has started. Raises
    SettingsError as local_session does.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield SparkSession.builder.config(map=dict(conf)).getOrCreate() if conf else active
        return
    if _SUBMITTED in os.environ:
        require_classic_settings(conf)
        settings = {API_MODE: CLASSIC, **({} if metastore is None else _catalog(metastore)), **conf}
        session = _start({"spark.app.name": "hmstats", **settings})
    else:
        session = local_session(metastore or "", master=master or LOCAL, conf=conf)
    with without_traces_of_interrupts(), _stop_at_end(session):
        yield session


@contextmanager
def _stop_at_end(session: SparkSession) -> Iterator[None]:
    """Stop the session at the end of the block, even if its Java process has already ended."""
    try:
        yield
    except (KeyboardInterrupt, HmstatsError):
        with suppress(ConnectionError, Py4JError):
            session.sparkContext.setLogLevel("OFF")  # tasks under way end with traces of Java
        raise
    finally:
        with suppress(ConnectionError, Py4JError):
            session.stop()


def session_is_given() -> bool:
    """Whether Spark was started by another program, such as spark-submit, with its master and settings."""
    return SparkSession.getActiveSession() is not None or _SUBMITTED in os.environ


def local_session(metastore: str, *, master: str = LOCAL, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with Hive support whose catalog is the metastore `thrift://HOST:PORT`. `conf` overrides all settings.

    Unless its master is a cluster, it listens on the loopback address only. Raises SettingsError if there is no
    suitable Java, if Spark Connect is asked for, and if Spark does not start.
    """
    require_classic_settings(conf or {})
    _check_java()
    _check_user()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    alone: dict[str, str] = {}
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
        alone = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    settings = {
        "spark.app.name": "hmstats",
        _MASTER: master,
        API_MODE: CLASSIC,
        **alone,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        OWN: "true",
        **_catalog(metastore),
        **(conf or {}),
    }
    return _start(settings)


def _start(settings: Mapping[str, str]) -> SparkSession:
    """Start a session with Hive support. Raises SettingsError with Spark's reason if it does not start."""
    try:
        with signals_deferred():
            SparkContext.getOrCreate(SparkConf().setAll([*settings.items(), _WITH_HIVE]))
        with signals_deferred():  # again, since the context has put a handler of its own there
            session = SparkSession.builder.config(map=dict(settings)).enableHiveSupport().getOrCreate()
            _ = session.conf  # creates the session's state, which reads the settings of SQL
    except (Py4JJavaError, PySparkException) as error:
        with_master = f" with master {settings[_MASTER]}" if _MASTER in settings else ""
        ended = isinstance(error, PySparkException) and error.getCondition() == _JAVA_ENDED
        reason = "its Java process ended, and says why above" if ended else first_reason(error)
        raise SettingsError(f"Spark{with_master} does not start: {reason}") from error
    return session


def _catalog(metastore: str) -> dict[str, str]:
    """The settings by which Spark's own client reaches a metastore: over Thrift, at all addresses with TLS or without.

    Raises SettingsError for other addresses.
    """
    schemes = {each.strip().partition("://")[0] for each in metastore.split(",")}
    if schemes == {"thrift+tls"}:
        return {_URIS: metastore.replace("thrift+tls://", "thrift://"), _TLS: "true"}
    if metastore and schemes != {"thrift"}:
        raise SettingsError(
            f"Spark's own client needs addresses thrift://HOST:PORT, or all of them thrift+tls://, found {metastore!r}"
        )
    return {_URIS: metastore}


def cores_of(master: str) -> int | None:
    """The cores of a local master; None for a cluster."""
    found = _LOCAL_MASTER.fullmatch(master)
    if found is None:
        return None
    threads = found["threads"] or "1"
    return (os.cpu_count() or 1) if threads == "*" else int(threads)


def _check_java() -> None:
    java = java_path()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        place = f"{home}/bin/java" if home else "any place of PATH"
        raise SettingsError(f"Spark needs Java {LEAST_JAVA} or newer, found none at {place}")
    version = java_version(java)
    if version is not None and version < LEAST_JAVA:
        raise SettingsError(f"Spark needs Java {LEAST_JAVA} or newer, found {version} at {java}: set JAVA_HOME")


def _check_user() -> None:
    if not has_name():
        raise SettingsError(
            f"Spark cannot run as user {user_name()}, for whom the system has no name, since Java's login needs one: "
            "add a line for the user to /etc/passwd"
        )

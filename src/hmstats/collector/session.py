"""A Spark of our own, in this process and its children, for commands that are not given one."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from hmstats.errors import SettingsError

_QUIET = Path(__file__).with_name("log4j2.properties")
_LOOPBACK = "127.0.0.1"


def local_session(metastore: str, *, master: str = "local[*]", conf: Mapping[str, str] | None = None) -> SparkSession:
    """A session with Hive support whose catalog is the metastore `thrift://HOST:PORT`. `conf` wins over all else.

    Raises SettingsError when there is no Java to start it.
    """
    _check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    settings = {
        "spark.app.name": "hmstats",
        "spark.master": master,
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.hadoop.hive.metastore.uris": metastore,
        **(conf or {}),
    }
    return SparkSession.builder.config(map=settings).enableHiveSupport().getOrCreate()


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = Path(home) / "bin" / "java" if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        raise SettingsError(f"Spark needs Java 17 or newer, found none at {java or 'any place of PATH'}")

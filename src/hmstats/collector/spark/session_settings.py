"""The settings of a Spark session that say where statistics go."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from hmstats.client.sending.spool import DEFAULT_FOLDER
from hmstats.errors import StatementError

SPOOL = "spark.hmstats.spool"


def hadoop_settings(spark: SparkSession) -> Callable[[str], str | None]:
    """A function that returns a setting of the session's Hadoop by its name."""
    conf: Any = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 - hive-site.xml and all else that Spark reads is known there only
    get: Callable[[str], str | None] = conf.get
    return get


def session_metastore(spark: SparkSession) -> str:
    """The session's hive.metastore.uris, as thrift+tls:// if its catalog uses TLS.

    Raises StatementError if it has none.
    """
    setting = hadoop_settings(spark)
    uris = setting("hive.metastore.uris")
    if not uris:
        raise StatementError("the session has no hive.metastore.uris: name the metastore")
    if (setting("hive.metastore.use.SSL") or "").lower() == "true":
        return uris.replace("thrift://", "thrift+tls://")
    return uris


def session_spool(spark: SparkSession, named: str | None) -> str | None:
    """The spool folder: the given one, else the session's, else one in the working directory.

    If executors are on other machines, the default is None, since their working directories are not the driver's.
    """
    folder = named or spark.conf.get(SPOOL, None)
    if folder is None and spark.sparkContext.master.split("[")[0] == "local":
        folder = DEFAULT_FOLDER
    if folder is None or "://" in folder or folder.startswith("file:"):
        return folder
    return os.fspath(Path(folder).absolute())

"""Recognises classic sessions, whose Java process can run our jobs; a session of Spark Connect is only a client."""

import os
from collections.abc import Mapping

from pyspark.sql import SparkSession

from hmstats.errors import SettingsError, StatementError

API_MODE = "spark.api.mode"
CLASSIC = "classic"
_REMOTE = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
"""Variables by which PySpark makes a session of Spark Connect."""


def require_classic(spark: SparkSession, action: str) -> None:
    """Raise StatementError, which names the action, for a session of Spark Connect."""
    if not hasattr(spark, "_jsparkSession"):
        raise StatementError(
            f"the session is one of Spark Connect, and {action} needs a classic one: make it with a master, "
            "or run the program by spark-submit"
        )


def require_classic_settings(conf: Mapping[str, str]) -> None:
    """Raise SettingsError if a new session of these settings would be one of Spark Connect."""
    asked = {name: os.environ[name] for name in _REMOTE if name in os.environ}
    asked |= {name: conf[name] for name in ("spark.remote", API_MODE) if conf.get(name, CLASSIC).lower() != CLASSIC}
    for name, value in asked.items():
        raise SettingsError(f"{name}={value} asks for Spark Connect, and statistics need a classic Spark: unset it")

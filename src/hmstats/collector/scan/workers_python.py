"""Selects the Python of Spark's tasks, which must have hmstats installed.

Spark uses PYSPARK_PYTHON, or otherwise `python3` on the PATH, which is another one if the driver's virtual environment
is not activated.
"""

import os
import sys
from typing import Any

from pyspark.sql import SparkSession

VARIABLE = "PYSPARK_PYTHON"


def use_driver_python(spark: SparkSession) -> None:
    """Make tasks on the driver's machine use the driver's Python, unless PYSPARK_PYTHON is set."""
    context: Any = spark.sparkContext
    if VARIABLE not in os.environ and is_local_master(context.master):
        context.pythonExec = sys.executable


def is_local_master(master: str) -> bool:
    """Whether tasks run on the driver's machine, by Spark's master URL."""
    return master.split("[", maxsplit=1)[0] in ("local", "local-cluster")

"""Extracts Spark's own messages about an error, without the traces of Spark and Java."""

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException


def spark_reason(error: Py4JError | PySparkException) -> str:
    """The first line of Spark's message about the error."""
    text = error.java_exception.toString() if isinstance(error, Py4JJavaError) else str(error)
    return text.strip().partition("\n")[0]


def first_reason(error: Py4JError | PySparkException) -> str:
    """The first line of Spark's message about the root cause of the error."""
    if isinstance(error, Py4JJavaError):
        cause = error.java_exception
        while (earlier := cause.getCause()) is not None:
            cause = earlier
        return str(cause.toString()).strip().partition("\n")[0]
    cause = error
    while (earlier := getattr(cause, "_cause", None)) is not None:
        cause = earlier
    return spark_reason(cause)

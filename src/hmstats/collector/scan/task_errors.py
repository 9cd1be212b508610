"""Raises errors of Spark's tasks in the driver, without the traces of Spark and Java around them."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.errors import PySparkException

from hmstats import errors
from hmstats.collector.scan.workers_python import VARIABLE
from hmstats.collector.spark.spark_reasons import first_reason, spark_reason
from hmstats.errors import AnalysisIncomplete, HmstatsError, SettingsError, UnreadableFile

_OURS = re.compile(r"\bhmstats\.errors\.(\w+): (.*)")
_NO_HMSTATS = re.compile(r"No module named '(hmstats|pyarrow|numpy|datasketches|thriftpy2)\b")
_SPARKS = re.compile(r"(?:\[(?:FAILED_READ_FILE|CANNOT_READ_FILE)\S*\] |(?=Input path does not exist: ))(.*)")
_STATE = re.compile(r"\.?\s+SQLSTATE: \w+\s*$")
_CAUSE = re.compile(r"^Caused by: (?:[\w.$]+: )?(.*)$", re.MULTILINE)
"""A line of a Java trace that contains a cause, with the message of its error class."""
_OF_PYTHON = "Traceback (most recent call last)"
_ENDS_TOO_SOON = re.compile(
    r"^Caused by: java\.io\.EOFException\b.*\n(?:\tat .*\n)*\tat \S+\.writeNextInputToStream\(", re.MULTILINE
)
"""Messages with which Spark reports a truncated file as the sudden end of a task's Python."""
_LOST = re.compile(r"Python worker exited unexpectedly|ExecutorLostFailure|java\.lang\.OutOfMemoryError(?:: [\w ]+)?")


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise the HmstatsError of a task; other errors pass unchanged.

    If Spark itself could not read a file, raises UnreadableFile; if the tasks' Python lacks hmstats, SettingsError; if
    Spark, an executor or a task's Python was killed or has no memory left, AnalysisIncomplete.
    """
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        found = _translate(str(error))
        if found is None:
            raise
        raise found from error
    except (Py4JNetworkError, ConnectionError) as error:
        raise AnalysisIncomplete(
            "Spark's Java process has ended in the middle of the job (killed, or out of memory?): what was stored stays"
        ) from error


@contextmanager
def translate_reading(table: str) -> Iterator[None]:
    """As `translate_errors` while Spark reads a table; every other error of Spark's own is an UnreadableFile.

    One such error is a missing class: of a storage handler, a format or a SerDe that is in no jar of the session. An
    error of the tasks' Python passes unchanged, since its trace tells what is wrong.
    """
    try:
        with translate_errors():
            yield
    except (Py4JError, PySparkException) as error:
        if _OF_PYTHON in str(error):
            raise
        raise UnreadableFile(f"table {table} cannot be read by Spark: {first_reason(error)}") from error


@contextmanager
def translate_all_errors() -> Iterator[None]:
    """As `translate_errors`; every other error of Spark is an AnalysisIncomplete with Spark's first line."""
    try:
        with translate_errors():
            yield
    except (Py4JError, PySparkException) as error:
        raise AnalysisIncomplete(f"Spark has ended the analysis: {spark_reason(error)}") from error


def _translate(text: str) -> HmstatsError | None:
    for name, sentence in reversed(_OURS.findall(text)):  # the trace ends with the first error, which caused the others
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, HmstatsError):
            return kind.from_text(sentence)
    if missing := _NO_HMSTATS.search(text):
        python = os.environ.get(VARIABLE) or "python3"
        advice = f"set {VARIABLE} to a Python that has hmstats, which it must have on every machine"
        return SettingsError(f"Spark's tasks run in {python}, which has no {missing[1]}: {advice}")
    if sparks := _SPARKS.search(text):
        return UnreadableFile(_add_cause(_STATE.sub("", sparks[1]), text))
    if (lost := _LOST.search(text)) and not _ENDS_TOO_SOON.search(text):
        return AnalysisIncomplete(
            f"a task of Spark was lost in the middle of the job ({lost[0]}: killed, or out of memory?): what was "
            "stored stays; more tasks (--tasks) need less memory each"
        )
    return None


def _add_cause(sentence: str, text: str) -> str:
    """Spark's sentence, followed by the first cause in the trace unless it says the same."""
    causes = _CAUSE.findall(text)
    return f"{sentence}: {causes[-1]}" if causes and causes[-1] and causes[-1] not in sentence else sentence

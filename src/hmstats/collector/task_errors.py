"""Errors that Spark's tasks raise, as the driver raises them: without the traces of Spark and of Java around them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from hmstats import errors
from hmstats.errors import HmstatsError, UnreadableFile

_OURS = re.compile(r"\bhmstats\.errors\.(\w+): (.*)")
_SPARKS = re.compile(r"(?:\[(?:FAILED_READ_FILE|CANNOT_READ_FILE)\S*\] |(?=Input path does not exist: ))(.*)")


@contextmanager
def as_our_own() -> Iterator[None]:
    """Raise what a task raised; a file that Spark itself could not read is an UnreadableFile. All else stays."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        found = _translated(str(error))
        if found is None:
            raise
        raise found from error


def _translated(text: str) -> HmstatsError | None:
    if ours := _OURS.search(text):
        kind = getattr(errors, ours[1], None)
        return kind(ours[2]) if isinstance(kind, type) and issubclass(kind, HmstatsError) else None
    sparks = _SPARKS.search(text)
    return UnreadableFile(sparks[1]) if sparks else None

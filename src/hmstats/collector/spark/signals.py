"""What Ctrl-C and SIGTERM do to a program with a Spark session.

PySpark leaves its Java process behind if it is interrupted while it starts it, and its client py4j logs the trace of
every interrupt.
"""

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = (signal.SIGINT, signal.SIGTERM)
_OF_PY4J = "KeyboardInterrupt while sending command."


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Let the program's handlers run at the end of the block, if one of these signals came; Spark's own are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {each: signal.signal(each, lambda number, _: came.append(number)) for each in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


@contextmanager
def without_traces_of_interrupts() -> Iterator[None]:
    """Keep py4j, which logs to the root of all loggers, from logging the traces of interrupts."""
    root = logging.getLogger()
    root.addFilter(_is_of_no_interrupt)
    try:
        yield
    finally:
        root.removeFilter(_is_of_no_interrupt)


def _is_of_no_interrupt(record: logging.LogRecord) -> bool:
    return record.msg != _OF_PY4J

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
_LOGGERS = ("", "py4j.clientserver", "py4j.java_gateway")
"""The loggers py4j writes to, the root of all loggers first."""


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
    """Keep py4j from logging the traces of interrupts, and of what fails while an interrupt closes its connections."""
    loggers = [logging.getLogger(each) for each in _LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_of_no_interrupt)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_of_no_interrupt)


def _is_of_no_interrupt(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return False
        error = error.__context__
    return True

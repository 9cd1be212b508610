"""Handles Ctrl-C and SIGTERM in programs with a Spark session.

PySpark leaves its Java process behind if it is interrupted while starting it, and its client py4j logs the trace of
every interrupt.
"""

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENDING = (signal.SIGINT, signal.SIGTERM)
_LOGGERS = ("", "py4j.clientserver", "py4j.java_gateway")
"""The loggers that py4j writes to, and the root of all loggers first."""


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer these signals to the end of the block, where the program's handlers run; Spark's own are removed.

    The first signal is answered at once by a line on standard error.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, _: object) -> None:
        if not came:
            _say(f"hmstats: {signal.Signals(number).name} came: the command ends as soon as Spark has started")
        came.append(number)

    before = {each: signal.signal(each, note) for each in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def _say(line: str) -> None:
    with suppress(OSError, RuntimeError):  # it is closed, or the signal came while something else was printed
        print(line, file=sys.stderr, flush=True)


@contextmanager
def without_traces_of_interrupts() -> Iterator[None]:
    """Keep py4j from logging the traces of interrupts, and of errors while an interrupt closes its connections."""
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

"""Log lines: one JSON object each on standard error, so that standard output stays the command's own.

They go through the standard library's handler, which never raises: a broken standard error must not end a server.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.typing import EventDict


def configure(level: str, **fields: object) -> None:
    """Send structlog's events from `level` (debug, info, warning or error) up to standard error as JSON.

    Each line has `fields` too.
    """

    def add_fields(_logger: object, _method: str, event: EventDict) -> EventDict:
        return {**fields, **event}

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)  # its lines are no JSON
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            add_fields,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


@contextmanager
def on_standard_error() -> Iterator[None]:
    """Have what a command does in place of a server log to standard error, as it is read by people."""
    if structlog.is_configured():
        yield
        return
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    try:
        yield
    finally:
        structlog.reset_defaults()

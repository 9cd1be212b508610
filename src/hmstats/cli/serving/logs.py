"""Log lines: one JSON object each on standard error, so that standard output stays the command's own.

They go through the standard library's handler, which never raises: a broken standard error must not end a server.
"""

import logging
import sys

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

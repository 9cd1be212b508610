"""Log lines of the parts that run in programs of others: notebooks, Spark jobs, schedulers.

A program that has configured structlog, as hmstats' own server does, gets them there. Any other gets them from the
standard library's logging, which writes warnings to standard error if it is not configured. Standard output is the
program's own.
"""

import logging
from dataclasses import dataclass

import structlog


@dataclass(frozen=True, slots=True)
class ProgramLog:
    """The log of a name, such as `hmstats.autogather`. An event is followed by its values."""

    name: str

    def info(self, event: str, **values: object) -> None:
        """Tell of an event that needs no action."""
        self._log(logging.INFO, event, values)

    def warning(self, event: str, **values: object) -> None:
        """Tell of an event that somebody may want to look after."""
        self._log(logging.WARNING, event, values)

    def error(self, event: str, **values: object) -> None:
        """Tell of an event that somebody has to look after."""
        self._log(logging.ERROR, event, values)

    def _log(self, level: int, event: str, values: dict[str, object]) -> None:
        if structlog.is_configured():
            structlog.get_logger(self.name).log(level, event, **values)
            return
        shown = ", ".join(f"{name}={value}" for name, value in values.items())
        logging.getLogger(self.name).log(level, "%s: %s", event.replace("_", " "), shown)

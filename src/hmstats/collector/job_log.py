"""The job log: a file with one JSON line for each analysis, with its counts and durations or its error."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hmstats.collector.report import Report
from hmstats.errors import SettingsError
from hmstats.version import __version__


@dataclass(frozen=True, slots=True)
class JobLog:
    """The log file at `path`; lines are appended, and the file is created if it is missing.

    Every method raises SettingsError when the file cannot be written.
    """

    path: Path

    def check(self) -> None:
        """Check that the file can be written, without writing a line."""
        self._write("")

    def add_report(self, report: Report) -> None:
        """Log a finished analysis."""
        self._add({"outcome": "done", **report.as_json()})

    def add_failure(self, table: str, error: Exception) -> None:
        """Log that an analysis of `table`, as the caller named it, has failed."""
        self._add({"outcome": "failed", "table": table, "error": str(error)})

    def _add(self, record: dict[str, Any]) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"at": at, "tool": f"hmstats {__version__}", **record}, ensure_ascii=False)
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        try:
            # Unbuffered, so that a line is one system call and several processes may share the file.
            with self.path.open("ab", buffering=0) as file:
                file.write(text.encode())
        except OSError as error:
            raise SettingsError(f"the job log {self.path} cannot be written: {error.strerror}") from error

"""A file that keeps one JSON line of each analysis: what was done, how long it took, or why it failed."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hmstats import __version__
from hmstats.collector.report import Report
from hmstats.errors import SettingsError


@dataclass(frozen=True, slots=True)
class JobLog:
    """The file at `path`; it is made when it is not there, and lines are added at its end.

    Every method raises SettingsError when the file cannot be written.
    """

    path: Path

    def check(self) -> None:
        """See that the file can be written, before there is anything to write."""
        self._write("")

    def done(self, report: Report) -> None:
        """Keep what an analysis did."""
        self._add({"outcome": "done", **report.as_json()})

    def failed(self, table: str, error: Exception) -> None:
        """Keep that an analysis of `table`, as the caller named it, ended with an error."""
        self._add({"outcome": "failed", "table": table, "error": str(error)})

    def _add(self, record: dict[str, Any]) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"at": at, "tool": f"hmstats {__version__}", **record}, ensure_ascii=False)
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)  # in one piece, so that several processes may share the file
        except OSError as error:
            raise SettingsError(f"the job log {self.path} cannot be written: {error.strerror}") from error

"""A file that keeps one JSON line of each analysis: what was done, how long it took, or why it failed."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hmstats import __version__
from hmstats.collector.report import Report


@dataclass(frozen=True, slots=True)
class JobLog:
    """The file at `path`; it is made when it is not there, and lines are added at its end."""

    path: Path

    def done(self, report: Report) -> None:
        """Keep what an analysis did. Raises OSError when the file cannot be written."""
        self._add({"outcome": "done", **report.as_json()})

    def failed(self, table: str, error: Exception) -> None:
        """Keep that an analysis of `table`, as the caller named it, ended with an error. Raises OSError."""
        self._add({"outcome": "failed", "table": table, "error": str(error)})

    def _add(self, record: dict[str, Any]) -> None:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"at": at, "tool": f"hmstats {__version__}", **record}, ensure_ascii=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")  # in one piece, so that several processes may share the file

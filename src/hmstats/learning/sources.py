"""Files of engines by what is in them: Spark's event logs, and what Trino tells of a query."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hmstats.errors import StatementError
from hmstats.learning.spark.executions import executions
from hmstats.learning.spark.log_files import Skipped, lines, logs_at
from hmstats.learning.spark.queries import query
from hmstats.learning.trino import explained
from hmstats.learning.trino.events import event_query, is_event, text_of_events
from hmstats.model.feedback.queries import Query

_HEAD_BYTES = 4_096
_MOST_TEXT_BYTES = 2**28


def queries_in(paths: Iterable[Path], skipped: Skipped) -> Iterator[Query]:
    """The queries in files or folders. Raises StatementError for what is not there, or of no known format."""
    for path in paths:
        if path.is_file() and (text := _trino_text(path)) is not None:
            yield from _of_trino(path, text, skipped)
            continue
        for log in logs_at(path):
            for execution in executions(lines(log, skipped), skipped):
                if (found := query(execution)) is not None:
                    yield found


def _trino_text(path: Path) -> str | None:
    """The text of a file of Trino's; None if it is none. Raises StatementError if it is too large."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if b'"Event"' in head[:200] or not (head.lstrip()[:1] in (b"{", b"[") or explained.is_explained(head)):
        return None
    if path.stat().st_size > _MOST_TEXT_BYTES:
        raise StatementError(f"a file of Trino's must have at most {_MOST_TEXT_BYTES:,} bytes, found {path}")
    return path.read_text(encoding="utf-8", errors="replace")


def _of_trino(path: Path, text: str, skipped: Skipped) -> Iterator[Query]:
    at_ms = int(path.stat().st_mtime * 1_000)
    if text.lstrip()[:1] not in ("{", "["):
        yield from explained.queries(text, at_ms)
        return
    for event in text_of_events(text, skipped):
        if not is_event(event):
            skipped.broken_lines += 1
        elif (found := event_query(event)) is not None:
            yield found

"""Reads queries from engines' files, recognised by their content: Spark's event logs, and Trino's texts and events."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hmstats.errors import StatementError
from hmstats.learning.skipped import Skipped
from hmstats.learning.spark.executions import executions
from hmstats.learning.spark.log_files import lines, logs_at
from hmstats.learning.spark.queries import query
from hmstats.learning.trino import explained
from hmstats.learning.trino.events import event_query, is_event, text_of_events
from hmstats.model.feedback.queries import Query

_HEAD_BYTES = 4_096
_EVENT, _EVENT_BYTES = b'"Event"', 200
"""The bytes with which an event of Spark begins, and how far they are searched for."""
_MOST_TEXT_BYTES = 2**28


def queries_in(paths: Iterable[Path], skipped: Skipped) -> Iterator[Query]:
    """The queries in files or folders. Raises StatementError if one does not exist, or is of an unknown format."""
    for path in paths:
        if path.is_file() and (text := _trino_text(path)) is not None:
            yield from _trino_queries(path, text, skipped)
            continue
        for log in logs_at(path):
            read = lines(log, skipped)
            events = _check_events(path, read, skipped) if log == [path] else read
            for execution in executions(events, skipped):
                if (found := query(execution)) is not None:
                    yield found


def _check_events(path: Path, log_lines: Iterable[bytes], skipped: Skipped) -> Iterator[bytes]:
    """The lines of a file. Raises StatementError at its end if the file has lines, but no event of Spark."""
    is_log, broken_lines = False, skipped.broken_lines
    for line in log_lines:
        is_log = is_log or _EVENT in line[:_EVENT_BYTES]
        yield line
    if not is_log and skipped.broken_lines > broken_lines:
        raise StatementError(_no_event_sentence(path))


def _trino_text(path: Path) -> str | None:
    """The text of a file if it is Trino's, else None. Raises StatementError if the file is too large."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if _EVENT in head[:_EVENT_BYTES] or not (head.lstrip()[:1] in (b"{", b"[") or explained.is_explained(head)):
        return None
    if path.stat().st_size > _MOST_TEXT_BYTES:
        raise StatementError(f"a file of Trino's must have at most {_MOST_TEXT_BYTES:,} bytes, found {path}")
    return path.read_text(encoding="utf-8", errors="replace")


def _trino_queries(path: Path, text: str, skipped: Skipped) -> Iterator[Query]:
    at_ms = int(path.stat().st_mtime * 1_000)
    if text.lstrip()[:1] not in ("{", "["):
        yield from explained.queries(text, at_ms)
        return
    is_log, broken_lines = False, skipped.broken_lines
    for event in text_of_events(text, skipped):
        if not is_event(event):
            skipped.broken_lines += 1
            continue
        is_log = True
        if (found := event_query(event)) is not None:
            yield found
    if not is_log and skipped.broken_lines > broken_lines:
        raise StatementError(_no_event_sentence(path))


def _no_event_sentence(path: Path) -> str:
    return f"{path} must be an event log of Spark, or events or EXPLAIN ANALYZE of Trino, found no event in it"

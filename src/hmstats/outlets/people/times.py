"""Times of the past as people write them: ISO 8601 with a zone, or so long ago."""

from datetime import UTC, datetime

from hmstats.errors import StatementError
from hmstats.model.durations import parse_seconds


def past_ms(option: str, text: str, now_seconds: float) -> int:
    """A time such as 2026-11-24T07:00:00Z or `2h ago`, in epoch milliseconds.

    Raises StatementError for another text, and for a time without a zone.
    """
    ago_seconds = parse_seconds(text.strip().removesuffix(" ago"))
    if ago_seconds is not None:
        return int((now_seconds - ago_seconds) * 1000)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise StatementError(
            f"{option} must be a time with a zone, as 2026-11-24T07:00:00Z, or so long ago, as '2h ago', found {text!r}"
        )
    return int(found.timestamp() * 1000)


def utc_text(at_ms: int) -> str:
    """A time as ISO 8601 in UTC, to the millisecond, which `past_ms` reads."""
    text = datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{at_ms % 1000:03d}Z"

"""Durations as people write them: a number and a unit, such as 90s, 30m, 12h, 7d, 4w."""

import re

from hmstats.errors import StatementError

UNIT_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,6})\s*([a-z])")


def parse_seconds(text: str, units: str = "smhdw") -> int | None:
    """The seconds of a duration in one of these units; None for another text."""
    found = _DURATION.fullmatch(text.strip())
    if found is None or found[2] not in units:
        return None
    return int(found[1]) * UNIT_SECONDS[found[2]]


def duration_seconds(text: str) -> float:
    """The seconds of a duration such as 90s, 30m, 12h, 7d. Raises StatementError."""
    seconds = parse_seconds(text)
    if seconds is None:
        raise StatementError(f"a duration must be a number with s, m, h, d or w, such as 30m; found {text!r}")
    return seconds

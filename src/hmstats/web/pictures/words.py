"""Values and parts as short texts."""

from datetime import datetime

MOST_CHARACTERS = 40


def value_text(value: object, most: int = MOST_CHARACTERS) -> str:
    """A value on one line, cut when it is long. A number has no commas: it may be a year or an identifier."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    line = " ".join(str(value).split()) or "''"
    return line if len(line) <= most else f"{line[: most - 1]}…"


def part_text(part: float) -> str:
    """A part of all as a percentage with as many digits as it needs."""
    if not part:
        return "0 %"
    if part == 1:
        return "100 %"
    percent = 100 * part
    if percent < 0.01:
        return "< 0.01 %"
    if percent > 99.9:
        return "> 99.9 %"
    return f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"

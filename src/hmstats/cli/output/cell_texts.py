"""Short texts in the tables of several commands."""

import time

from hmstats.outlets.people.cells import UNKNOWN

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def count_text(count: int | None) -> str:
    """A count with commas; a dash if it is unknown."""
    return UNKNOWN if count is None else f"{count:,}"


def age(seconds: int | None) -> str:
    """How long ago a time was (epoch seconds), in its largest unit; a dash if it is unknown."""
    if seconds is None:
        return UNKNOWN
    passed = max(int(time.time()) - seconds, 0)
    unit, name = next((each for each in _UNITS if passed >= each[0]), _UNITS[-1])
    return f"{passed // unit} {name}"


def value_text(value: object) -> str:
    """A compared value: a number with commas, or four digits of a fraction; a dash if it is unknown."""
    if value is None:
        return UNKNOWN
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

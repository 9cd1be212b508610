"""Numbers, sizes and times as people read them: by no locale's rules, sizes in binary units, times as ISO 8601."""

import time
from datetime import UTC, datetime

from hmstats.outlets.people.times import utc_text
from hmstats.web.answers.numbers import Bound, Certainty, Number
from hmstats.web.pictures.words import part_text, value_text

UNKNOWN = "\N{EN DASH}"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_MINUTE_SECONDS, _HOUR_SECONDS = 60, 3_600
_AGES = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_STATISTICS = {
    "ndv": "distinct values",
    "low": "least",
    "high": "greatest",
    "max_length": "greatest length",
    "average_length": "average length",
}
_FEWEST_SAID = 0.5
"""An error that cannot change a whole number is not told."""


def number_text(value: int | None) -> str:
    """A whole number with commas; a dash if it is unknown."""
    return UNKNOWN if value is None else f"{value:,}"


def size_text(size_bytes: int | None) -> str:
    """A size in its largest binary unit; a dash if it is unknown."""
    if size_bytes is None:
        return UNKNOWN
    size, unit = float(size_bytes), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size_bytes:,} B" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def sure_text(found: Number | Bound | None) -> str:
    """The certainty of a number, in a word or two."""
    if found is None:
        return ""
    if found.certainty is Certainty.SAMPLE:
        return f"sample of {part_text(found.sample_fraction or 0)}"
    if found.certainty is Certainty.ESTIMATE and isinstance(found, Number):
        error = found.standard_error or 0
        return f"about, ± {part_text(error)}" if error * found.value > _FEWEST_SAID else "about"
    return "exact" if found.certainty is Certainty.EXACT else "as stored"


def sure_words(found: Number | Bound | None) -> str:
    """The certainty of a number, as a sentence."""
    if found is None:
        return "nothing stored tells"
    if found.certainty is Certainty.SAMPLE:
        return f"of a sample: {part_text(found.sample_fraction or 0)} of the rows were looked at"
    if found.certainty is Certainty.ESTIMATE and isinstance(found, Number):
        return f"an estimate: from {found.low:,} to {found.high:,}, in 997 of 1,000 cases"
    if found.certainty is Certainty.EXACT:
        return "exact: every row was looked at"
    return "as stored: its writer did not say how sure it is"


def time_text(moment: datetime | None) -> str:
    """A time in UTC to the minute; a dash if it is unknown."""
    return UNKNOWN if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def second_text(moment: datetime) -> str:
    """A time in UTC to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def exact_time_text(moment: datetime) -> str:
    """A time as ISO 8601 to the millisecond, as questions take it."""
    return utc_text(round(moment.timestamp() * 1000))


def now_text() -> str:
    """The current time, as questions take it."""
    return utc_text(int(time.time() * 1000))


def amount_text(value: object) -> str:
    """A number that changed, or a bound; a dash if it is unknown."""
    if value is None:
        return UNKNOWN
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value_text(value)


def statistic_text(name: str) -> str:
    """The name of a number in a table of changes."""
    return _STATISTICS.get(name, name)


def duration_text(seconds: float) -> str:
    """How long something took, in its two largest units."""
    if seconds < _MINUTE_SECONDS:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR_SECONDS:
        return f"{whole // _MINUTE_SECONDS} min {whole % _MINUTE_SECONDS} s"
    return f"{whole // _HOUR_SECONDS:,} h {whole % _HOUR_SECONDS // _MINUTE_SECONDS} min"


def age_text(moment: datetime | None) -> str:
    """How long ago a time was, in its largest unit; a dash if it is unknown."""
    if moment is None:
        return UNKNOWN
    passed = max(int(time.time() - moment.timestamp()), 0)
    unit, name = next((each for each in _AGES if passed >= each[0]), _AGES[-1])
    return f"{passed // unit} {name}"

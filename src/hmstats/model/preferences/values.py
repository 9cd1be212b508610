"""The names of preferences, where each can be stated, and what its text means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.durations import UNIT_SECONDS, parse_seconds
from hmstats.model.preferences.windows import parse_windows, windows_text

STATISTICS, AUTOMATIC, EVERY, SAMPLE, PRECISION = "statistics", "automatic", "every", "sample", "precision"
HISTOGRAM, TOP_K, GUARD, GUARD_FACTOR, PUBLISH = "histogram", "top_k", "guard", "guard_factor", "publish"
WINDOW, PUFFIN_COLUMNS = "window", "puffin_columns"
PUFFIN_TEXT, PUFFIN_ALL, PUFFIN_NONE = "text", "all", "none"
"""Values of puffin_columns that are no names: of columns with texts or bytes, of all, of none."""

_TRUTHS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_NONE = "none"


class Level(StrEnum):
    """The level of the object that a preference is stated for."""

    EVERYTHING = "everything"
    DATABASE = "database"
    TABLE = "table"
    PARTITION = "partition"
    COLUMN = "column"


class Made(StrEnum):
    """The statistics that an analysis makes."""

    ALL = "all"
    BOUNDS = "bounds"
    """No sketches: nulls, bounds, lengths, trues."""
    ROWS = "rows"
    """Files, bytes and rows, without reading data."""
    NONE = "none"


class GuardMode(StrEnum):
    """The writers whose numbers the guard looks at."""

    OFF = "off"
    AUTOMATIC = "automatic"
    """The numbers that automatic runs write."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Kind:
    """A preference. `parse` raises ValueError; `text` is the form that is stored; `default` is the text if unset."""

    default: str
    levels: frozenset[Level]
    expected: str
    about: str
    parse: Callable[[str], Any]
    text: Callable[[Any], str] = str


def _truth(text: str) -> bool:
    return _TRUTHS[text.lower()]


def _truth_text(value: bool) -> str:  # noqa: FBT001 - a value, not a switch
    return "true" if value else "false"


def _duration(text: str) -> int | None:
    if text.lower() == _NONE:
        return None
    seconds = parse_seconds(text.lower(), "mhdw")
    if not seconds:
        raise ValueError(text)
    return seconds


def _duration_text(seconds: int | None) -> str:
    if seconds is None:
        return _NONE
    unit = next(each for each in ("d", "h", "m") if seconds % UNIT_SECONDS[each] == 0)
    return f"{seconds // UNIT_SECONDS[unit]}{unit}"


def _between(low: float, high: float, number: type[int] | type[float]) -> Callable[[str], int | float]:
    """A parser of numbers above `low` and up to `high`."""

    def parse(text: str) -> int | float:
        found = number(text)
        if not low < found <= high:
            raise ValueError(text)
        return found

    return parse


def _number_text(value: float) -> str:
    """The shortest text that is read as this number again."""
    return repr(value).removesuffix(".0")


def _windows(text: str) -> Any:
    return () if text.lower() == _NONE else parse_windows(text)


def _puffin_columns(text: str) -> str:
    names = dict.fromkeys(each.strip().lower() for each in text.split(","))
    if not all(names):
        raise ValueError(text)
    return PUFFIN_ALL if "*" in names else ",".join(names)


_WIDE = frozenset({Level.EVERYTHING, Level.DATABASE, Level.TABLE})
_TRUE_OR_FALSE = "true or false"

KINDS: Mapping[str, Kind] = {
    STATISTICS: Kind(
        "all",
        _WIDE | {Level.COLUMN},
        "all, bounds or rows, of a column all, bounds or none",
        "Which statistics are made: all, bounds (no sketches), rows (only counted); of a column: all, bounds, none.",
        Made,
    ),
    AUTOMATIC: Kind(
        "true",
        _WIDE | {Level.PARTITION},
        _TRUE_OR_FALSE,
        "Whether automatic runs analyse it.",
        _truth,
        _truth_text,
    ),
    EVERY: Kind(
        _NONE,
        _WIDE | {Level.PARTITION},
        "a time such as 30m, 12h, 7d, or none",
        "The shortest time between two automatic analyses.",
        _duration,
        _duration_text,
    ),
    SAMPLE: Kind(
        "1",
        _WIDE,
        "more than 0 and at most 1",
        "The part of the rows to read.",
        _between(0, 1, float),
        _number_text,
    ),
    PRECISION: Kind("12", _WIDE, "10 to 14", "The precision of the bit vectors.", _between(9, 14, int)),
    HISTOGRAM: Kind(
        "true", _WIDE | {Level.COLUMN}, _TRUE_OR_FALSE, "Whether histograms are made.", _truth, _truth_text
    ),
    TOP_K: Kind(
        "true", _WIDE | {Level.COLUMN}, _TRUE_OR_FALSE, "Whether frequent values are looked for.", _truth, _truth_text
    ),
    GUARD: Kind(
        "automatic",
        _WIDE,
        "off, automatic or all",
        "Whose numbers are held if they jump: nobody's, those of automatic runs, everybody's.",
        GuardMode,
    ),
    GUARD_FACTOR: Kind(
        "10",
        _WIDE | {Level.COLUMN},
        "more than 1 and at most 1e18",
        "By more than this factor rows and distinct values may not change.",
        _between(1, 1e18, float),
        _number_text,
    ),
    PUBLISH: Kind(
        "true", _WIDE, _TRUE_OR_FALSE, "Whether planners get new numbers at once; else they wait.", _truth, _truth_text
    ),
    WINDOW: Kind(
        _NONE,
        _WIDE,
        "[DAYS] START-END [ZONE], or none",
        "When automatic runs may analyse it; at any time if none.",
        _windows,
        lambda value: windows_text(value) or _NONE,
    ),
    PUFFIN_COLUMNS: Kind(
        PUFFIN_TEXT,
        _WIDE,
        "text, all, none, or names separated by commas",
        "Columns of Iceberg tables whose distinct counts go into Puffin files.",
        _puffin_columns,
    ),
}
"""Every preference, by its name."""


def parse_value(name: str, text: str) -> Any:
    """The value of a preference's text. Raises InvalidInput for an unknown preference or an invalid text."""
    kind = _kind(name)
    try:
        return kind.parse(text.strip())
    except (ValueError, KeyError) as error:
        raise InvalidInput(f"the preference {name} must be {kind.expected}, found {text!r}") from error


def check_value(name: str, text: str, level: Level) -> str:
    """The text as it is stored. Raises InvalidInput, also for a preference that cannot be stated at this level."""
    value = parse_value(name, text)
    check_level(name, level)
    if name == STATISTICS and value is (Made.ROWS if level is Level.COLUMN else Made.NONE):
        of = "of a column" if level is Level.COLUMN else "of a table"
        raise InvalidInput(f"the preference statistics {of} must not be {value}: {KINDS[name].expected}")
    return KINDS[name].text(value)


def check_name(name: str) -> None:
    """Raises InvalidInput for an unknown preference."""
    _kind(name)


def check_level(name: str, level: Level) -> None:
    """Raises InvalidInput for an unknown preference, or one that cannot be stated at this level."""
    kind = _kind(name)
    if level not in kind.levels:
        where = ", ".join(each for each in Level if each in kind.levels)
        raise InvalidInput(f"the preference {name} is stated of {where}, found a {level}")


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise InvalidInput(f"there is no preference {name}, only {', '.join(KINDS)}")
    return KINDS[name]

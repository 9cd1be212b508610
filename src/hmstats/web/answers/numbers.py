"""Numbers that say how sure they are, and values of columns, in a form that every JSON reader keeps whole.

JavaScript reads a number as a double: whole numbers beyond 2^53 and decimals are sent as text.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, WithJsonSchema

from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.python_values import calendar_text

MOST_SAFE = 2**53
"""The greatest whole number up to which a double holds every whole number."""
_WIDE = "A whole number; beyond 2^53 as text."


def _whole(number: int) -> int | str:
    return number if -MOST_SAFE <= number <= MOST_SAFE else str(number)


def _scalar(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return _whole(value)
    return value


Whole = Annotated[
    int,
    PlainSerializer(_whole, return_type=int | str),
    WithJsonSchema({"type": ["integer", "string"], "description": _WIDE}),
]
Scalar = Annotated[
    bool | int | float | str,
    PlainSerializer(_scalar, return_type=bool | int | float | str),
    WithJsonSchema(
        {
            "type": ["boolean", "number", "string"],
            "description": "A value of the column: dates and times as ISO 8601, decimals and whole numbers beyond 2^53 "
            "as text, binary as hexadecimal digits.",
        }
    ),
]


class Certainty(StrEnum):
    """The certainty of a number: exact, an estimate with bounds, of a sample of the rows, or not said by its writer."""

    EXACT = "exact"
    ESTIMATE = "estimate"
    SAMPLE = "sample"
    UNSAID = "unsaid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number and how sure it is.

    The truth of an estimate lies between `low` and `high` with a confidence of 99.7 %; `standard_error` is relative.
    `sample_fraction` is the part of the rows that was looked at.
    """

    value: Whole
    certainty: Certainty = Certainty.UNSAID
    low: Whole | None = None
    high: Whole | None = None
    standard_error: float | None = None
    sample_fraction: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The least or the greatest value of a column, and how sure it is."""

    value: Scalar
    certainty: Certainty = Certainty.UNSAID
    sample_fraction: Annotated[float | None, Field(ge=0, le=1)] = None


def scalar(kind: Kind, value: Any) -> bool | int | float | str:
    """A bound, an edge or a frequent value of a column of this kind, as JSON has it.

    Dates and times are ISO 8601; a day or second beyond the calendar stays a number. A double that JSON cannot hold is
    text: nan, inf, -inf.
    """
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        found = calendar_text(kind, value)
        return int(value) if found is None or found.lstrip("-").isdecimal() else found
    return python_scalar(value)


def python_scalar(value: object) -> bool | int | float | str:
    """A value of Python as JSON has it: dates and times as ISO 8601, decimals as text, bytes as hexadecimal digits."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    return value if isinstance(value, bool | int) else str(value)

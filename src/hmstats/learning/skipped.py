"""What of an engine's files cannot be used, and how it is noticed."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

UNEXPECTED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors at values of events that are not as their engine writes them, and at plans that are too deep."""
_MOST = 2**63


def count_of(value: Any) -> int:
    """A count or a time. Raises ValueError for one below 0 or with more than 64 bits, else as `int`."""
    number = int(value)
    if not 0 <= number < _MOST:
        raise ValueError("a count must be 0 or more, and have at most 64 bits")
    return number


def estimate_of(value: Any) -> float | None:
    """An estimate; None for one that is no number of rows, such as the endless one of many joins without keys."""
    number = float(value)
    return number if isfinite(number) and number >= 0 else None


def seconds_of(value: Any) -> float:
    """The seconds that a query took; 1 if they cannot be true."""
    number = float(value)
    return number if 0 <= number < _MOST else 1.0


@dataclass(slots=True)
class Skipped:
    """How much of a log could not be used."""

    long_lines: int = 0
    broken_lines: int = 0
    cut_files: int = 0
    lost_executions: int = 0

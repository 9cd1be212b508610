"""Values of engines' files that cannot be used: how they are recognised, and how many there were."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

UNEXPECTED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors that values and plans raise which are not as their engine writes them, or nested too deep."""
_MOST = 2**63


def count_of(value: Any) -> int:
    """A count or a time. Raises ValueError if it is below 0 or has more than 64 bits, otherwise as `int` does."""
    number = int(value)
    if not 0 <= number < _MOST:
        raise ValueError("a count must be 0 or more, and have at most 64 bits")
    return number


def estimate_of(value: Any) -> float | None:
    """An estimated number of rows; None for impossible ones, such as the infinite one of many joins without keys."""
    number = float(value)
    return number if isfinite(number) and number >= 0 else None


def seconds_of(value: Any) -> float:
    """The seconds that a query took; 1 for an impossible number."""
    number = float(value)
    return number if 0 <= number < _MOST else 1.0


@dataclass(slots=True)
class Skipped:
    """The number of parts of a log that could not be used."""

    long_lines: int = 0
    broken_lines: int = 0
    cut_files: int = 0
    lost_executions: int = 0

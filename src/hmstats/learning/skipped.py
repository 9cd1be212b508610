"""What of an engine's files cannot be used, and how it is noticed."""

from dataclasses import dataclass

UNEXPECTED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Errors at values of events that are not as their engine writes them."""


@dataclass(slots=True)
class Skipped:
    """How much of a log could not be used."""

    long_lines: int = 0
    broken_lines: int = 0
    cut_files: int = 0
    lost_executions: int = 0

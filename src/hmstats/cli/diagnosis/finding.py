"""A finding of `hmstats doctor`: whether a thing is right, and the advice if it is not."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `advice` is None if no action is needed."""

    subject: str
    level: Level
    found: str
    advice: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The line as a JSON object."""
        return asdict(self)


def ok(subject: str, found: str) -> Finding:
    """A finding that needs no action."""
    return Finding(subject, "ok", found)


def warning(subject: str, found: str, advice: str) -> Finding:
    """A finding about a thing that works, or may work, but not as one would expect."""
    return Finding(subject, "warning", found, advice)


def problem(subject: str, found: str, advice: str) -> Finding:
    """A finding about a thing that does not work."""
    return Finding(subject, "problem", found, advice)

"""Decides which writes of a table's statistics wait, by its preferences."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.model.preferences.values import GUARD, GUARD_FACTOR, KINDS, PUBLISH, GuardMode, Level, parse_value

HOLDING = (GUARD, GUARD_FACTOR, PUBLISH)
"""The preferences that writers look at."""
_OUTWARDS = (Level.TABLE, Level.DATABASE, Level.EVERYTHING)


@dataclass(frozen=True, slots=True)
class Holding:
    """Whether statistics of a table wait already, and which new ones must, for its writers.

    `factors` are those of columns with a factor of their own.
    """

    publish: bool = True
    guard: GuardMode = GuardMode.AUTOMATIC
    factor: float = float(KINDS[GUARD_FACTOR].default)
    factors: Mapping[str, float] = field(default_factory=dict)
    has_pending: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether writes by people and engines need no comparison with the stored numbers."""
        return self.publish and self.guard is not GuardMode.ALL and not self.has_pending

    def guards(self, *, automatic: bool) -> bool:
        """Whether the guard looks at the numbers of a write."""
        return self.guard is GuardMode.ALL or (automatic and self.guard is GuardMode.AUTOMATIC)

    def factor_of(self, column: str) -> float:
        """The factor by which a column's distinct values may change."""
        return self.factors.get(column, self.factor)


USUAL = Holding()


def holding_of(stated: Iterable[tuple[Level, str, str, str]], *, has_pending: bool) -> Holding:
    """The Holding of a table by its preferences: level, column (empty: none), name and text of each.

    A text without a meaning, of a newer version, is left out.
    """
    said: dict[tuple[Level, str, str], str] = {(level, column, name): text for level, column, name, text in stated}
    if not said and not has_pending:
        return USUAL
    factors = {
        column: _value(name, text) for (_, column, name), text in said.items() if column and name == GUARD_FACTOR
    }
    return Holding(
        publish=_first(said, PUBLISH),
        guard=_first(said, GUARD),
        factor=_first(said, GUARD_FACTOR),
        factors={column: factor for column, factor in factors.items() if factor is not None},
        has_pending=has_pending,
    )


def _first(said: Mapping[tuple[Level, str, str], str], name: str) -> Any:
    for level in _OUTWARDS:
        value = _value(name, said[level, "", name]) if (level, "", name) in said else None
        if value is not None:
            return value
    return _value(name, KINDS[name].default)


def _value(name: str, text: str) -> Any:
    try:
        return parse_value(name, text)
    except InvalidInput:
        return None

"""COLUMN_STATS_ACCURATE: the parameter that tells Hive which statistics it may answer queries from.

Hive's form, byte for byte: `{"BASIC_STATS":"true","COLUMN_STATS":{"a":"true"}}`, no blanks, columns sorted, false
entries left out. Hive before 1.3 wrote TRUE or FALSE alone; any other text that is not JSON counts as empty.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

PARAMETER = "COLUMN_STATS_ACCURATE"
_BASIC = "BASIC_STATS"
_COLUMNS = "COLUMN_STATS"


@dataclass(frozen=True, slots=True)
class Accurate:
    """Whether the basic statistics are exact, and the columns whose statistics are."""

    basic: bool = False
    columns: frozenset[str] = frozenset()

    @classmethod
    @lru_cache(maxsize=1_000)  # cached, since a table's partitions mostly have equal texts
    def parse(cls, text: str | None) -> "Accurate":
        """Parse the parameter's value; for None and unreadable text nothing is accurate."""
        if text is None:
            return cls()
        try:
            value = json.loads(text)
        except ValueError:
            return cls(basic=text.strip().lower() == "true")
        if value is True:
            return cls(basic=True)
        if not isinstance(value, dict):
            return cls()
        columns = value.get(_COLUMNS)
        names = columns.items() if isinstance(columns, dict) else ()
        return cls(_true(value.get(_BASIC)), frozenset(name for name, flag in names if _true(flag)))

    def text(self) -> str:
        """The parameter's value in Hive's form."""
        value: dict[str, object] = {}
        if self.basic:
            value[_BASIC] = "true"
        if self.columns:
            value[_COLUMNS] = dict.fromkeys(sorted(self.columns), "true")
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    def with_columns(self, columns: Iterable[str]) -> "Accurate":
        """A copy that also marks these columns as accurate."""
        return Accurate(self.basic, self.columns | frozenset(columns))

    def without_columns(self, columns: Iterable[str] | None = None) -> "Accurate":
        """A copy that no longer marks these columns, or if None all columns, as accurate."""
        return Accurate(self.basic, frozenset() if columns is None else self.columns - frozenset(columns))


def without_marks_of(parameters: Mapping[str, str], lost: Sequence[str]) -> dict[str, str]:
    """The parameters without the mark of accuracy of lost columns."""
    if not lost or PARAMETER not in parameters:
        return dict(parameters)
    return {**parameters, PARAMETER: Accurate.parse(parameters[PARAMETER]).without_columns(lost).text()}


def _true(flag: object) -> bool:
    return str(flag).lower() == "true"

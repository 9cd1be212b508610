"""A change of some parameters of a table or partition; all others stay."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from hmstats.model.parameters.accurate import PARAMETER, Accurate


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A change: `put` parameters are set, `remove` parameters are removed if they exist."""

    put: Mapping[str, str] = field(default_factory=dict)
    remove: frozenset[str] = frozenset()

    def with_column_marks(self, parameters: Mapping[str, str]) -> Self:
        """The change of these parameters that preserves the marks of columns, unless it names columns itself.

        So a writer that counts rows does not overwrite the marks of other writers.
        """
        said = self.put.get(PARAMETER)
        marks = Accurate.parse(said)
        if said is None or marks.columns:
            return self
        marks = marks.with_columns(Accurate.parse(parameters.get(PARAMETER)).columns)
        if marks == Accurate():
            others = {name: value for name, value in self.put.items() if name != PARAMETER}
            return replace(self, put=others, remove=self.remove | {PARAMETER})
        return replace(self, put={**self.put, PARAMETER: marks.text()})

    def of(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """The parameters when they are changed."""
        return {name: value for name, value in parameters.items() if name not in self.remove} | dict(self.put)


def change_of(values: Mapping[str, str | None]) -> ParameterChange:
    """The change that puts these values, and removes what has None."""
    put = {name: value for name, value in values.items() if value is not None}
    return ParameterChange(put, frozenset(values.keys() - put.keys()))


def as_asked(said: ParameterChange, made: ParameterChange) -> ParameterChange:
    """The change that was made, without a removal of COLUMN_STATS_ACCURATE unless the writer has `said` it."""
    return made if PARAMETER in said.remove else replace(made, remove=made.remove - {PARAMETER})

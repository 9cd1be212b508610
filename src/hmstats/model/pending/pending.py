"""Pending statistics, and the reasons why they wait."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.parameter_change import ParameterChange
from hmstats.model.statistics.column_statistics import StatisticsSet


class HeldBy(StrEnum):
    """The reason why statistics wait."""

    PREFERENCE = "preference"
    GUARD = "guard"


@dataclass(frozen=True, slots=True)
class HoldReason:
    """The reason why a write waits, with sentences for users."""

    held_by: HeldBy
    text: str


@dataclass(frozen=True, slots=True)
class Pending:
    """The pending statistics of a table itself or of a partition.

    `base` are the counts of rows, files and bytes that were stored when it was put aside. `held_at_seconds` is an epoch
    time.
    """

    reason: HoldReason
    sets: Sequence[StatisticsSet] = ()
    change: ParameterChange = field(default_factory=ParameterChange)
    base: Parameters = field(default_factory=dict)
    writer: str | None = None
    held_at_seconds: int = 0


@dataclass(frozen=True, slots=True)
class PendingListed:
    """A line of the list of pending statistics. `partition` None: of the table itself."""

    table: TableName
    partition: str | None
    reason: HoldReason
    columns: tuple[str, ...]
    writer: str | None
    held_at_seconds: int


@dataclass(frozen=True, slots=True)
class PendingOfTable:
    """Everything that waits of a table: statistics, and changes of parameters by partition (None: the table).

    `version` is that of the table, which every write of it raises; None if a server does not tell it.
    """

    sets: Sequence[StatisticsSet]
    changes: Mapping[str | None, ParameterChange]
    version: int | None = None

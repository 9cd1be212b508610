"""The two interfaces of gathering statistics while writing: a publisher in each task, an aggregator at the job's end.

Another implementation is a class with the publisher's methods and one with the aggregator's, both made without
arguments, named by the entry points of the groups `hmstats.publishers` and `hmstats.aggregators`; their name is what
hive.stats.dbclass has before its first colon. What a write may survive they raise as an HmstatsError.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from hmstats.model.running_writes import PartialState


@dataclass(frozen=True, slots=True)
class Run:
    """One write. `connection` is where its states are kept: an address, a URL or a folder, as the kind has it.

    `retention_hours`: a run that published nothing for so long has died.
    """

    id: str
    connection: str
    retention_hours: float


class Publisher(Protocol):
    """Used by one attempt of a task: init, publish as often as needed, terminate."""

    def init(self, run: Run) -> None:
        """Make ready."""
        ...

    def publish(self, states: Sequence[PartialState]) -> None:
        """Keep states so that the aggregator finds them. The same place again replaces what is there."""
        ...

    def terminate(self) -> None:
        """Close what is open."""
        ...


class Aggregator(Protocol):
    """Used by the driver: init before the first task, aggregate after the last, terminate however the job ended."""

    def init(self, run: Run) -> None:
        """Make ready, so that tasks can publish, and remove the states of runs that died."""
        ...

    def aggregate(self) -> Iterator[PartialState]:
        """Every state of the run, those of one piece behind each other; of failed attempts of tasks too."""
        ...

    def terminate(self) -> None:
        """Remove the run's states and close what is open."""
        ...

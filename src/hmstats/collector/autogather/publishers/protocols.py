"""The two interfaces of gathering statistics while writing: a publisher in each task, an aggregator at the job's end.

Another implementation is a class with the publisher's methods and one with the aggregator's, both made without
arguments, registered as entry points of the groups `hmstats.publishers` and `hmstats.aggregators`, under the value of
hive.stats.dbclass before its first colon. They raise HmstatsError for failures that the write may survive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from hmstats.client.connection.credentials import NOTHING, HandedOver
from hmstats.files.file_systems import NO_SETTINGS, Settings
from hmstats.model.statistics.running_writes import PartialState


@dataclass(frozen=True, slots=True)
class Run:
    """One write. `connection` is where its states are stored: an address, a URL or a folder, depending on the kind.

    A run that has published nothing for `retention_hours` counts as dead. `settings` are Hadoop's settings for a
    folder, by name.
    """

    id: str
    connection: str
    retention_hours: float
    settings: Settings = field(default=NO_SETTINGS, repr=False)
    handed: HandedOver = NOTHING
    """The credentials by which tasks prove the user to the metastore."""


class Publisher(Protocol):
    """Publishes states of one attempt of a task: init, publish as often as needed, terminate."""

    def init(self, run: Run) -> None:
        """Prepare to publish states of a run."""
        ...

    def publish(self, states: Sequence[PartialState]) -> None:
        """Store states for the aggregator. A state with the same Place replaces the old one."""
        ...

    def terminate(self) -> None:
        """Close connections and files."""
        ...


class Aggregator(Protocol):
    """Collects states in the driver: init before the first task, aggregate after the last, terminate in any case."""

    def init(self, run: Run) -> None:
        """Prepare the storage, so that tasks can publish, and remove the states of dead runs."""
        ...

    def aggregate(self) -> Iterator[PartialState]:
        """All states of the run, grouped by piece, with those of failed attempts."""
        ...

    def terminate(self) -> None:
        """Remove the run's states, and close connections and files."""
        ...

"""Partial states that the tasks of a job store while it writes a table, for the statistics at its end."""

from typing import NamedTuple


class Place(NamedTuple):
    """The key of a partial state in its run: piece first, so that states are read piece by piece."""

    piece: str
    task: int
    attempt: int
    number: int


class PartialState(NamedTuple):
    """The state of one attempt of a task for a piece: a partition by its name, or "" for an unpartitioned table.

    `task` is the number of the data's part that the task works on, the same for each of its attempts; `number` counts
    the states of one attempt. `state` is the accumulators' bytes.
    """

    place: Place
    state: bytes

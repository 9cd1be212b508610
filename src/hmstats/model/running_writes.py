"""What the tasks of a job that writes a table leave behind for its end, which makes statistics of it."""

from typing import NamedTuple


class Place(NamedTuple):
    """Where a partial state stands among those of its run: by piece first, so that they are read piece by piece."""

    piece: str
    task: int
    attempt: int
    number: int


class PartialState(NamedTuple):
    """What one attempt of a task has found of a piece: a partition by its name, or "" for an unpartitioned table.

    `task` is the number of the data's part that the task works on, the same for each of its attempts; `number` counts
    the states of one attempt. `state` is the accumulators' bytes.
    """

    place: Place
    state: bytes

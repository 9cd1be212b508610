"""Runtime statistics of Hive's queries, whose payload only Hive reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuntimeStat:
    """The counts of one query: bytes of Hive's own, of so many operators (`weight`), at an epoch time."""

    created_seconds: int
    weight: int
    payload: bytes

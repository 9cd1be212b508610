"""What is analysed one by one: a partition, or a table that has none."""

from dataclasses import dataclass, field

from hmstats.model.catalog import Parameters

WHOLE_TABLE = ""
"""Stands where a partition's name would, in a table without partition keys."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A partition, or the whole of an unpartitioned table (its name is WHOLE_TABLE).

    `parameters` are those that the metastore has of it.
    """

    name: str
    values: tuple[str, ...]
    location: str
    parquet: bool
    parameters: Parameters = field(default_factory=dict)

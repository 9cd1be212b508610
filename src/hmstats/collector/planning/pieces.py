"""Pieces, the units of an analysis: a partition, or a whole table without partition keys."""

from dataclasses import dataclass, field

from hmstats.model.catalog.objects import Parameters

WHOLE_TABLE = ""
"""The name of the only piece of a table without partition keys."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A partition, or the whole of an unpartitioned table (its name is WHOLE_TABLE).

    `parameters` are those in the metastore.
    """

    name: str
    values: tuple[str, ...]
    location: str
    parquet: bool
    parameters: Parameters = field(default_factory=dict)

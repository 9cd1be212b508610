"""Pieces, the units of an analysis: a partition, or a whole table without partition keys."""

from dataclasses import dataclass, field

from hmstats.model.catalog.objects import Parameters

WHOLE_TABLE = ""
"""The name of the only piece of a table without partition keys."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A partition, or the whole of an unpartitioned table (its name is WHOLE_TABLE).

    `parameters` are those in the metastore. `parquet`, `orc`: the files have this format, and are read directly.
    `by_manifest`: the location has manifests, which name the files. `elsewhere` is the format of files in a store that
    only Spark has a client for, "" for any other format; None: tasks can reach the files.
    """

    name: str
    values: tuple[str, ...]
    location: str
    parquet: bool
    parameters: Parameters = field(default_factory=dict)
    orc: bool = False
    by_manifest: bool = False
    elsewhere: str | None = None

    @property
    def in_files(self) -> bool:
        """Whether the files are read directly, except for ORC files that are left to Spark."""
        return self.parquet or self.orc

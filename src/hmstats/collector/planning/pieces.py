"""Pieces, the units of an analysis: a partition, or a whole table without partition keys."""

from dataclasses import dataclass, field

from hmstats.model.catalog.objects import Parameters

WHOLE_TABLE = ""
"""The name of the only piece of a table without partition keys."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A partition, or the whole of an unpartitioned table (its name is WHOLE_TABLE).

    `parameters` are those in the metastore. `parquet`: its files are of Parquet, `orc`: they are of ORC, and
    are read directly. `by_manifest`: its location has manifests, which name the files. `elsewhere` is the format of
    files in a store that Spark alone has a client for, "" if it is another one; None: tasks reach them.
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
        """Whether its files are read directly, unless they are ORC files that are left to Spark."""
        return self.parquet or self.orc

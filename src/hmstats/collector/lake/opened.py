"""An opened table: one version of it, described by its own metadata."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from hmstats.client import Metastore
from hmstats.collector.options import Options
from hmstats.collector.planning.data_files import DataFile
from hmstats.collector.report import PuffinFile
from hmstats.files.counted_reads import Reads
from hmstats.sketch.accumulator import TableAccumulator
from hmstats.sketch.distinct.theta import ThetaSketch

Hadoop = Callable[[str], str | None]
"""A function that returns a setting of Hadoop by its name, None if it is unset."""


def no_settings(_: str) -> str | None:
    """A function without any setting of Hadoop, so that object stores are reached by the environment alone."""
    return None


@dataclass(frozen=True, slots=True)
class SketchedColumn:
    """A column that may have a theta sketch: its field id, and whether it has texts or bytes."""

    field_id: int
    is_text: bool


class Outlet(Protocol):
    """Other places for a version's statistics, besides the metastore's column statistics."""

    def register(
        self, metastore: Metastore, sketches: Mapping[str, ThetaSketch], unwanted: Collection[str]
    ) -> PuffinFile:
        """Store sketches of columns in the format's own statistics; earlier ones of `unwanted` columns are removed."""

    def parameters(self, before: Mapping[str, str], columns: Collection[str]) -> Mapping[str, str]:
        """The table's parameters that name the version of the columns' statistics."""


@dataclass(frozen=True, slots=True)
class AddedFiles:
    """The additions to an earlier version: files, rows that are read as in LakeTable, and that version's sketches."""

    files: Sequence[DataFile]
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    sketches: Mapping[str, ThetaSketch]


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """A version to which rows were only added since; its `version` and `identity` are as in LakeTable.

    `added` returns the additions, None if some of these columns lack a sketch of that version.
    """

    version: str
    identity: str
    added: Callable[[Collection[str]], AddedFiles | None]


class BySpark(Protocol):
    """Reads all rows of a version by Spark."""

    def __call__(
        self, spark: Any, metastore: str, types: Mapping[str, str], sketched: Sequence[str], options: Options
    ) -> tuple[TableAccumulator, dict[str, ThetaSketch]]:
        """The state of all rows, and sketches by column."""


def _no_versions() -> Iterator[EarlierVersion]:
    return iter(())


@dataclass(frozen=True, slots=True)
class LakeTable:
    """An opened table, of one version.

    `version` is the name of the format and the version, for provenance. `identity` changes with each commit that may
    change rows or columns. `schema` is the JSON of a StructType of Spark's with all columns, None if the metastore's
    columns are right. `files` are the live data files. `rows` is the number of rows, None if it is not known without
    reading. `read` returns the rows of some columns, by their names in the metastore and in that order, with deleted
    rows left out. `without` is the reason by column that has no statistics although its type in the metastore could
    have some. `sketched` are the columns that may have theta sketches in the table's own metadata, which `outlet`
    stores; None if the metadata have no place for them. `earlier` returns the versions to which rows were only added
    since, the newest first. `only_by_spark` is the reason why `read` cannot read the table, None if it can; then
    `by_spark` reads it, in a session of Spark and from the metastore at an address: some columns into accumulators,
    others into sketches. `commits_are_told`: every commit changes the table in the metastore, so that the next one can
    remove a mark of accuracy there. `registered` is the distinct count by column that engines have registered for this
    version in the table's own metadata. `commits` is the number of commits that led to this version since the table was
    created. `reads` counts the reads of files by `read`; None if the format's library does not tell.
    """

    version: str
    identity: str
    schema: str | None
    files: Sequence[DataFile]
    rows: int | None
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    without: Mapping[str, str] = field(default_factory=dict)
    sketched: Mapping[str, SketchedColumn] = field(default_factory=dict)
    outlet: Outlet | None = None
    earlier: Callable[[], Iterator[EarlierVersion]] = _no_versions
    only_by_spark: str | None = None
    by_spark: BySpark | None = None
    commits_are_told: bool = False
    registered: Mapping[str, int] = field(default_factory=dict)
    commits: int = 0
    reads: Reads | None = None

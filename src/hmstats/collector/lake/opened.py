"""A table as one version of its own metadata has it."""

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
    """No setting of Hadoop: object stores are reached by the environment alone."""
    return None


@dataclass(frozen=True, slots=True)
class SketchedColumn:
    """A column that may have a theta sketch: its field id, and whether it has texts or bytes, no numbers or times."""

    field_id: int
    is_text: bool


class Outlet(Protocol):
    """The other places of a version's statistics, beside the metastore's column statistics."""

    def register(
        self, metastore: Metastore, sketches: Mapping[str, ThetaSketch], unwanted: Collection[str]
    ) -> PuffinFile:
        """Give sketches of columns to the format's own statistics; earlier ones of `unwanted` columns are removed."""

    def parameters(self, before: Mapping[str, str], columns: Collection[str]) -> Mapping[str, str]:
        """The table's parameters that say of which version the statistics of columns are."""


@dataclass(frozen=True, slots=True)
class AddedFiles:
    """What was added to an earlier version: files, rows that are read as in LakeTable, and that version's sketches."""

    files: Sequence[DataFile]
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    sketches: Mapping[str, ThetaSketch]


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """A version to which rows were only added since; its `version` and `identity` are as in LakeTable.

    `added` returns what was, None if not all of these columns have a sketch of that version.
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

    `version` names the format and the version, for provenance. `identity` changes with each commit that may change rows
    or columns. `schema` is the JSON of a StructType of Spark's with all columns, None if the metastore's columns are
    right. `files` are the live data files. `rows` is how many there are, None if they must be read to know it. `read`
    returns the rows of some columns, by their names in the metastore and in that order, with deleted rows left out.
    `without` is column to the reason why it has no statistics, where its type in the metastore does not say so.
    `sketched` are the columns that may have theta sketches in the table's own metadata, which `outlet` takes; None if
    it has no place for them. `earlier` returns the versions to which rows were only added since, the newest first.
    `only_by_spark` is why `read` cannot read the table, None if it can; `by_spark` reads it then, in a session of Spark
    and from the metastore at an address: some columns into accumulators, others into sketches. `commits_are_told`: the
    metastore is told of every commit, so that a mark of accuracy in it can be removed by the next one. `registered` is
    column to the distinct count that engines have registered for this version in the table's own metadata.
    `commits` is how many have led to this version since the table was made. `reads` counts what `read` reads of files;
    None if the format's library does not tell.
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

"""A table as one version of its own metadata has it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from hmstats.collector.planning.data_files import DataFile


@dataclass(frozen=True, slots=True)
class LakeTable:
    """An opened table, of one version.

    `version` names the format and the version, for provenance. `identity` changes with each commit that may change rows
    or columns. `schema` is the JSON of a StructType of Spark's with all columns, None if the metastore's columns are
    right. `files` are the live data files. `rows` is how many there are, None if they must be read to know it. `read`
    returns the rows of some columns, by their names in the metastore and in that order, with deleted rows left out.
    `without` is column to the reason why it has no statistics, where its type in the metastore does not say so.
    """

    version: str
    identity: str
    schema: str | None
    files: Sequence[DataFile]
    rows: int | None
    read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]]
    without: Mapping[str, str] = field(default_factory=dict)

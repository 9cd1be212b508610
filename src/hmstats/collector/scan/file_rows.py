"""Reads the rows of files into accumulators: Parquet by row group, ORC by stripe."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.files.orc import orc_batches
from hmstats.collector.scan.files.parquet import parquet_batches
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.states import States, Types
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.sketch.accumulator import TableAccumulator


def accumulate(
    splits: Iterable[Split], types: Types, options: Options = DEFAULT, reads: Reads | None = None
) -> TableAccumulator:
    """The state of splits of one piece; `reads` counts reads. Raises UnreadableFile, naming the file."""
    found = States(types, options).of(WHOLE_TABLE)
    for split in splits:
        add_split(found, split, types, reads)
    return found


def add_split(found: TableAccumulator, split: Split, types: Types, reads: Reads | None = None) -> None:
    """Add the rows of a split to a state; `reads` counts reads. Raises UnreadableFile, naming the file."""
    found.leave_out(split.rows_left_out)
    try:
        for batch in batches(split, types, reads):
            found.update(batch)
    except (OSError, pa.ArrowException) as error:
        raise UnreadableFile(f"file {split.path} cannot be read: {error}") from error


def batches(split: Split, types: Types, reads: Reads | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the wanted columns, in the metastore's types; a column that the file lacks is null.

    `reads` counts reads. Raises UnreadableFile, also after the last batch if the number of rows is not the footer's.
    """
    read = orc_batches if split.orc else parquet_batches
    return read(split, types, reads or Reads())

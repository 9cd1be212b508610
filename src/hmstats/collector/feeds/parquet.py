"""Parquet files, read by row group inside Spark's tasks: no row crosses between the JVM and Python."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from hmstats.collector.arrow_types import arrow_type, conform
from hmstats.collector.feeds.states import State, States, Types
from hmstats.collector.files import open_location
from hmstats.collector.plan import WHOLE_TABLE
from hmstats.collector.splits import Split
from hmstats.errors import UnreadableFile
from hmstats.model.column_statistics import Kind
from hmstats.model.column_types import kind_of
from hmstats.sketch.accumulator import TableAccumulator

_BATCH_ROWS = 256 * 1024
_LEAST_PLAIN_TEXT_BYTES = 4
"""A text that is written plainly has four bytes of length before it: a column chunk that needs fewer bytes a value is
held by its dictionary."""


def states(spark: SparkSession, tasks: Sequence[Sequence[Split]], types: Types) -> list[State]:
    """The states of every piece that the splits are of, in parts; one Spark task for each list of splits."""
    if not tasks:
        return []
    job = spark.sparkContext.parallelize(tasks, len(tasks)).flatMap(partial(task_states, types=types))
    return list(job.collect())


def task_states(splits: Iterable[Split], types: Types) -> Iterator[State]:
    """What one task makes: a state for each piece that its splits are of."""
    found = States(types)
    for split in splits:
        accumulator = found.of(split.piece)
        for batch in batches(split, types):
            accumulator.update(batch)
    return found.encoded()


def accumulated(splits: Iterable[Split], types: Types) -> TableAccumulator:
    """The state of splits of one piece. Raises UnreadableFile naming the file that cannot be read."""
    found = States(types).of(WHOLE_TABLE)
    for split in splits:
        try:
            for batch in batches(split, types):
                found.update(batch)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableFile(f"file {split.path} cannot be read: {error}") from error
    return found


def batches(split: Split, types: Types) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the wanted columns, in the metastore's types; a column that the file lacks is null."""
    system, _ = open_location(split.location)
    footer = pq.read_metadata(split.path, filesystem=system)
    names = {name.lower(): name for name in footer.schema.to_arrow_schema().names}
    wanted = {column: names[column] for column in types if column in names}
    with pq.ParquetFile(
        split.path,
        metadata=footer,
        filesystem=system,
        read_dictionary=dictionary_columns(footer, [wanted[each] for each in wanted if _is_text(types[each])]),
        coerce_int96_timestamp_unit="us",
    ) as file:
        for batch in file.iter_batches(_BATCH_ROWS, split.row_groups, list(wanted.values()), use_threads=False):
            yield _conformed(batch, wanted, types)


def dictionary_columns(footer: pq.FileMetaData, columns: Iterable[str]) -> list[str]:
    """Those of some text columns that a file holds by their dictionaries, judged by the first row group's sizes."""
    if not footer.num_row_groups:
        return []
    wanted, group = set(columns), footer.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    return [
        chunk.path_in_schema
        for chunk in chunks
        if chunk.path_in_schema in wanted
        and chunk.has_dictionary_page
        and chunk.total_uncompressed_size < _LEAST_PLAIN_TEXT_BYTES * chunk.num_values
    ]


def _is_text(column_type: str) -> bool:
    return kind_of(column_type) is Kind.STRING


def _conformed(batch: pa.RecordBatch, wanted: Mapping[str, str], types: Types) -> pa.RecordBatch:
    arrays = {
        column: conform(batch.column(wanted[column]), arrow_type(type_))
        if column in wanted
        else pa.nulls(batch.num_rows, arrow_type(type_))
        for column, type_ in types.items()
    }
    return pa.RecordBatch.from_pydict(arrays) if arrays else batch

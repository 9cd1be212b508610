"""Reads Parquet files by row group inside Spark's tasks, so that no row crosses between the JVM and Python."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.collector.scan.arrow_types import arrow_type, as_column
from hmstats.collector.scan.files.calendars import old_columns, rebased
from hmstats.collector.scan.files.opening import open_split
from hmstats.collector.scan.files.parquet_types import is_read_alike
from hmstats.collector.scan.files.splits import Split, compressed_bytes
from hmstats.collector.scan.states import Types
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of

_MOST_BATCH_ROWS, _LEAST_BATCH_ROWS = 256 * 1024, 1024
_BATCH_BYTES = 64 * 1024 * 1024
_RUN_BYTES, _LARGE_GROUP_BYTES = 32 * 1024 * 1024, 64 * 1024 * 1024
_BUFFER_BYTES = 4 * 1024 * 1024
"""The buffer for reading a column's chunk of a large row group; other chunks are read at once."""
_LEAST_PLAIN_TEXT_BYTES = 4
"""A plainly encoded text has four bytes of length before it, so a column chunk with fewer bytes a value must be mostly
dictionary-encoded."""


def parquet_batches(split: Split, types: Types, reads: Reads) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the wanted columns, in the metastore's types; a column that the file lacks is null.

    Raises UnreadableFile after the last batch if the number of rows is not the footer's.
    """
    if split.row_groups == ():
        return
    with open_split(split, reads) as file:
        yield from _file_batches(file, split, types)


def _file_batches(source: pa.NativeFile, split: Split, types: Types) -> Iterator[pa.RecordBatch]:
    footer = pq.read_metadata(source)
    names = footer.schema.to_arrow_schema().names
    by_column = {name.lower(): name for name in names}
    wanted = {column: by_column[column] for column in types if column in by_column}
    _check_names(split.path, names, wanted)
    old = old_columns(footer)
    groups = split.row_groups if split.row_groups is not None else tuple(range(footer.num_row_groups))
    sizes = {group: compressed_bytes(footer.row_group(group)) for group in groups}
    with pq.ParquetFile(
        source,
        metadata=footer,
        read_dictionary=dictionary_columns(footer, [wanted[each] for each in wanted if _is_text(types[each])]),
        coerce_int96_timestamp_unit="us",
        buffer_size=_BUFFER_BYTES if max(sizes.values(), default=0) > _LARGE_GROUP_BYTES else 0,
    ) as file:
        _check_types(split.path, file.schema_arrow, wanted, types)
        rows, read = batch_rows(footer, wanted.values()), 0
        for some in _runs_of_groups(sizes):
            for batch in file.iter_batches(rows, some, list(wanted.values()), use_threads=False):
                read += batch.num_rows
                yield _to_columns(batch, wanted, types, old)
    _check_rows(split.path, sum(footer.row_group(group).num_rows for group in groups), read)


def _check_names(path: str, names: Sequence[str], wanted: Collection[str]) -> None:
    """Raises UnreadableFile if a wanted column exists more than once, since it is unknown which one is meant."""
    twice = [name for name, count in Counter(each.lower() for each in names).items() if count > 1 and name in wanted]
    if twice:
        raise UnreadableFile(f"file {path} has more than one column {twice[0]}, if upper and lower case are one")


def _check_types(path: str, schema: pa.Schema, wanted: Mapping[str, str], types: Types) -> None:
    """Raises UnreadableFile if engines may read different values of a wanted column."""
    for column, name in wanted.items():
        given = schema.field(name).type
        if not is_read_alike(given, types[column]):
            raise UnreadableFile(
                f"file {path} cannot be read: column {column} is of type {given} there, not {types[column]}"
            )


def dictionary_columns(footer: pq.FileMetaData, columns: Iterable[str]) -> list[str]:
    """The text columns that are worth reading as dictionaries, judged by the sizes in the first row group."""
    return [
        chunk.path_in_schema
        for chunk in _first_chunks(footer, columns)
        if chunk.has_dictionary_page and chunk.total_uncompressed_size < _LEAST_PLAIN_TEXT_BYTES * chunk.num_values
    ]


def batch_rows(footer: pq.FileMetaData, columns: Iterable[str]) -> int:
    """The number of rows that are read at once, so that a batch's memory is limited."""
    sizes = (chunk.total_uncompressed_size / max(1, chunk.num_values) for chunk in _first_chunks(footer, columns))
    row_bytes = sum(max(8.0, size) for size in sizes)
    return max(_LEAST_BATCH_ROWS, min(_MOST_BATCH_ROWS, int(_BATCH_BYTES / max(1.0, row_bytes))))


def _check_rows(path: str, expected: int, read: int) -> None:
    """Raises UnreadableFile if the number of rows that were read is not the footer's."""
    if read != expected:
        raise UnreadableFile(f"file {path} has {expected:,} rows by its footer, but {read:,} were read")


def _runs_of_groups(sizes: Mapping[int, int]) -> Iterator[list[int]]:
    """Row groups in runs, limited by their compressed bytes, which stay in memory until the end of the run."""
    run: list[int] = []
    for group, size in sizes.items():
        if run and sum(sizes[each] for each in run) + size > _RUN_BYTES:
            yield run
            run = []
        run.append(group)
    if run:
        yield run


def _first_chunks(footer: pq.FileMetaData, columns: Iterable[str]) -> Iterator[pq.ColumnChunkMetaData]:
    """The column chunks of the first row group for some columns; none if there are no row groups."""
    if not footer.num_row_groups:
        return
    wanted, group = set(columns), footer.row_group(0)
    for number in range(group.num_columns):
        chunk = group.column(number)
        if chunk.path_in_schema in wanted:
            yield chunk


def _is_text(column_type: str) -> bool:
    return kind_of(column_type) is Kind.STRING


def _to_columns(batch: pa.RecordBatch, wanted: Mapping[str, str], types: Types, old: Collection[str]) -> pa.RecordBatch:
    """The batch in the metastore's types; `old` are the file's columns in Spark's old calendar."""
    arrays = {
        column: as_column(batch.column(wanted[column]), type_)
        if column in wanted
        else pa.nulls(batch.num_rows, arrow_type(type_))
        for column, type_ in types.items()
    }
    arrays |= {column: rebased(arrays[column]) for column, name in wanted.items() if name in old}
    return pa.RecordBatch.from_pydict(arrays) if arrays else batch

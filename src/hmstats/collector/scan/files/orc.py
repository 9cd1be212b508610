"""Reads ORC files by stripe inside Spark's tasks, if Arrow's values are certainly those that Spark reads.

Otherwise a file is left to Spark (LeftToSpark). This concerns types that differ from the metastore's, columns without
names as old Hives wrote them, dates before 1582 and times before 1970, for which the calendars and time zones of
writers and readers differ, and times that do not fit Arrow's nanoseconds. Timestamps are in UTC: the planner leaves
them to Spark if Spark's own time zone is another one.
"""

from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pyarrow import orc

from hmstats.collector.scan.arrow_types import arrow_type, as_column
from hmstats.collector.scan.files.opening import open_split
from hmstats.collector.scan.files.orc_footer import OrcColumn, OrcFooter, read_footer
from hmstats.collector.scan.files.splits import Split
from hmstats.collector.scan.states import Types
from hmstats.errors import UnreadableFile
from hmstats.files.counted_reads import Reads
from hmstats.model.statistics.column_types import base_type

_BATCH_ROWS = 256 * 1024
_TEXTS = ("string", "char", "varchar")
_WIDER = {"tinyint": ("smallint", "int", "bigint"), "smallint": ("int", "bigint"), "int": ("bigint",)}
"""The metastore's types as which all engines read numbers of a narrower type alike."""
_DAYS = (-141_427, 2_932_896)
"""The first day of the Gregorian calendar, and the last day of the year 9999."""
_MILLISECONDS = (1, 7_258_118_400_000)
"""From 1970 to 2200, without the first millisecond, whose bounds may include slightly older times."""
BLOCK_BYTES = 1024 * 1024
"""The size of blocks in an object store, since the library reads every stream of a column separately."""
_NAMELESS = "_col0"
"""The name of the first column in a file that an old Hive wrote without names."""


class LeftToSpark(UnreadableFile):
    """Raised for a file whose values Spark may read differently."""


def orc_batches(split: Split, types: Types, reads: Reads) -> Iterator[pa.RecordBatch]:
    """The rows of a split with the wanted columns, in the metastore's types; a column that the file lacks is null.

    Raises LeftToSpark, before the first batch; UnreadableFile, after the last one, if the number of rows is not the
    footer's.
    """
    if split.row_groups == ():
        return
    with open_split(split, reads, BLOCK_BYTES) as source:
        file = orc.ORCFile(source)
        footer = footer_of(file, split.path)
        wanted = _wanted_columns(split.path, footer, types)
        stripes = split.row_groups if split.row_groups is not None else range(len(footer.stripes))
        for number in stripes:
            yield from _stripe_batches(file, number, footer.stripes[number].rows, wanted, types, split.path)


def footer_of(file: orc.ORCFile, path: str) -> OrcFooter:
    """The footer of an opened file. Raises LeftToSpark if it cannot be interpreted."""
    try:
        return read_footer(file.reader.serialized_file_tail())
    except (ValueError, IndexError) as error:
        raise LeftToSpark(f"file {path} cannot be read: its footer is not understood: {error}") from error


def _stripe_batches(
    file: orc.ORCFile, number: int, rows: int, wanted: Mapping[str, str], types: Types, path: str
) -> Iterator[pa.RecordBatch]:
    if not wanted:
        lacking = {name: pa.nulls(rows, arrow_type(each)) for name, each in types.items()}
        yield pa.RecordBatch.from_pydict(lacking or {"": pa.nulls(rows)})
        return
    stripe = file.read_stripe(number, columns=list(wanted.values()))
    if stripe.num_rows != rows:
        raise UnreadableFile(f"file {path} has {rows:,} rows in stripe {number}, but {stripe.num_rows:,} were read")
    for start in range(0, rows, _BATCH_ROWS):
        part = stripe.slice(start, _BATCH_ROWS)
        arrays = {
            name: _values(part.column(wanted[name]), each)
            if name in wanted
            else pa.nulls(part.num_rows, arrow_type(each))
            for name, each in types.items()
        }
        yield pa.RecordBatch.from_pydict(arrays)


def _values(array: pa.Array, column_type: str) -> pa.Array:
    """The values; a timestamp without a time zone becomes its number of microseconds, as in Spark's files."""
    if pa.types.is_int64(array.type) and base_type(column_type) == "timestamp_ntz":
        return array.view(pa.timestamp("us"))
    return as_column(array, column_type)


def _wanted_columns(path: str, footer: OrcFooter, types: Types) -> dict[str, str]:
    """The file's names of those wanted columns that it has. Raises LeftToSpark."""
    names: Sequence[str] = [name for name, _ in footer.columns]
    lower = [name.lower() for name in names]
    if footer.is_encrypted:
        raise LeftToSpark(f"file {path} cannot be read: it is encrypted")
    if _NAMELESS in lower and _NAMELESS not in types:
        raise LeftToSpark(f"file {path} cannot be read: its columns have no names")
    found: dict[str, str] = {}
    for name, column in footer.columns:
        wanted = types.get(name.lower())
        if wanted is None:
            continue
        if lower.count(name.lower()) > 1 or "." in name:
            raise LeftToSpark(f"file {path} cannot be read: column {name} is ambiguous")
        if not _is_same_for_spark(column, wanted):
            raise LeftToSpark(f"file {path} cannot be read: {_difference(name, column, wanted)}")
        found[name.lower()] = name
    return found


def _difference(name: str, column: OrcColumn, wanted: str) -> str:
    """The reason why Spark may read other values of a column of the file."""
    if column.type == base_type(wanted):
        return f"column {name} has values that readers take for other days and times, or its footer does not tell"
    return f"column {name} is of type {column.type}, not {wanted}"


def _is_same_for_spark(column: OrcColumn, wanted: str) -> bool:
    """Whether Spark reads the same values when it reads a column of the file as a type of the metastore."""
    kind = base_type(wanted)
    if column.type in ("date", "timestamp"):
        low, high = _DAYS if column.type == "date" else _MILLISECONDS
        known = column.low is not None and column.high is not None and low <= column.low <= column.high <= high
        return column.type == kind and (known or not column.values)
    if kind == "timestamp_ntz":
        return column.type == "bigint"
    if column.type is not None and base_type(column.type) in _TEXTS:
        return kind in _TEXTS and (column.type == "string" or kind == base_type(column.type))
    return column.type == wanted or kind in _WIDER.get(column.type or "", ())

"""Statistics as arrays of Arrow's statistics schema, and back.

One array is about one target: a table, a partition, or a result. Its first row is the whole, the others are columns;
docs/engines/arrow.md has examples. Any library in the process takes an array over the C data interface, and what such a
library has is read in the same way.

of_data      statistics of data themselves
of_footers   statistics that a Parquet file has in its footer
of_model     the model's statistics in Arrow's form, and back
bounds       bounds in the type of their column
names        the names of statistics
columns      the numbers of columns, nested ones too
hive_types   Hive's types as Arrow's
build        arrays, and their schema
read         arrays of any library
ipc          streams of arrays
adbc         what an ADBC driver answers
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import build, read
from hmstats.outlets.arrow.of_data import DataStatistics, batches
from hmstats.outlets.arrow.of_footers import footer_statistics
from hmstats.outlets.arrow.of_model import from_model, to_model


def statistics_array(found: TableStatistics) -> pa.StructArray:
    """The array of a target's statistics. Raises InvalidInput when the type of a column cannot be read."""
    return build.array(from_model(found))


def statistics_batches(found: Sequence[TableStatistics]) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    """A record batch for each target, all of one schema, with one dictionary. Raises InvalidInput as there."""
    arrays = build.arrays([from_model(each) for each in found]) or [build.array([])]
    schema = build.schema_of(arrays[0].type.field("statistics").type.item_type)
    # from_struct_array() of pyarrow 21 takes the whole of an array that is a part of another.
    made = [pa.RecordBatch.from_arrays(array.flatten(), schema=schema) for array in arrays[: len(found)]]
    return schema, made


def table_statistics(source: Any, schema: pa.Schema | None = None) -> TableStatistics:
    """The model's statistics of an array, a record batch, or of what another library has as either.

    `schema` is that of the data; statistics that hmstats wrote of a table name their columns themselves. What the model
    has no place for is left out. Raises InvalidInput when it is no statistics array, or its columns are not known.
    """
    return to_model(read.statistics(source), schema)


def arrow_statistics(data: Any, *, sketches: bool = False) -> pa.StructArray:
    """The statistics of a pyarrow table, batch or reader, a Parquet file's path, or anything that is an Arrow stream.

    Also of a pyarrow array, which is column 0 then, its parts the columns after it. Everything is looked at, once.
    `sketches`: bit vectors, histograms and frequent values too. Raises InvalidInput for anything else.
    """
    if isinstance(data, pa.Array | pa.ChunkedArray):
        found = _compute(pa.table([data], names=[""]), sketches=sketches)[1]
        return build.array(each if each.column is not None else each._replace(column=0) for each in found)
    return build.array(_compute(data, sketches=sketches)[1])


def parquet_statistics(path: str | Path) -> pa.StructArray:
    """The statistics in a Parquet file's footer: rows, nulls and bounds, without reading any row.

    Raises InvalidInput if it is no Parquet file, OSError if it cannot be read.
    """
    return build.array(footer_statistics(path))


def data_statistics(data: Any) -> TableStatistics:
    """Compute the statistics of data as the model's TableStatistics, with sketches.

    Fields of nested columns are named by their paths: `col1.a`.
    """
    schema, found = _compute(data, sketches=True)
    return to_model(found, schema)


def _compute(data: Any, *, sketches: bool) -> tuple[pa.Schema, list[build.Statistic]]:
    schema, rows = batches(data)
    made = DataStatistics(schema, sketches=sketches)
    for batch in rows:
        made.update(batch)
    return schema, made.statistics()

"""Statistics of data themselves: an Arrow table, a stream of batches, or a Parquet file, in one pass, without a server.

Columns and the parts of nested ones go through the accumulators that the collector has. A part of a struct that is null
counts as null; a list's values count without the lists that are null or empty. Unions are not looked into.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hmstats.errors import InvalidInput
from hmstats.model.statistics.column_statistics import ColumnStatistics, Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.outlets.arrow import names
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.columns import Node, nodes, parts
from hmstats.outlets.arrow.hive_types import hive_type
from hmstats.outlets.arrow.of_model import of_column, of_rows
from hmstats.sketch.accumulator import ColumnAccumulator
from hmstats.sketch.distinct import bit_vector
from hmstats.version import __version__

_TOOL = f"hmstats {__version__}"
_UNCOUNTED_KINDS = (Kind.BOOLEAN, Kind.BINARY)
"""Kinds without a distinct count, so that all of their numbers are exact."""
_UINT64_HOLDER = pa.decimal128(20, 0)


def batches(data: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """The schema and the batches of a table, a batch, a reader, a Parquet file's path, or of what has any as a stream.

    Raises InvalidInput for anything else.
    """
    if isinstance(data, (str, Path)):
        return _parquet_schema(data), _parquet_batches(data)
    if not hasattr(data, "__arrow_c_stream__"):
        raise InvalidInput(f"data must be a table, a stream of batches or a Parquet file, found {type(data).__name__}")
    reader = pa.RecordBatchReader.from_stream(data)
    return reader.schema, reader


class DataStatistics:
    """Accumulates the statistics of batches. `sketches`: the result includes sketches."""

    def __init__(self, schema: pa.Schema, *, sketches: bool) -> None:
        self._nodes = nodes(schema)
        self._sketches = sketches
        self._nulls: dict[int, int] = {}
        self._columns: dict[int, ColumnAccumulator] = {}
        self.rows = 0
        none = [pa.nulls(0, field.type) for field in schema]
        self.update(pa.RecordBatch.from_arrays(none, schema=schema))

    def update(self, batch: pa.RecordBatch) -> None:
        """Add rows. Raises SketchError for a value that an accumulator cannot take."""
        self.rows += batch.num_rows
        arrays = (array for column in batch.columns for array in _walk(column, column.type))
        for node, array in zip(self._nodes, arrays, strict=True):
            if array is not None:
                self._add(node, array)

    def statistics(self) -> list[Statistic]:
        """All statistics: the number of rows, then those of each column and part."""
        found = of_rows(self.rows, exact=True)
        for node in self._nodes:
            if node.number in self._columns:
                of_it = of_column(node, self._column(node))
                found += (each for each in of_it if self._sketches or names.split(each.name)[0] not in names.SKETCHES)
            elif node.number in self._nulls:
                name = names.variant(names.NULL_COUNT, exact=True)
                found.append(Statistic(node.number, name, self._nulls[node.number], pa.int64()))
        return found

    def _add(self, node: Node, array: pa.Array) -> None:
        kind = kind_of(hive_type(node.type))
        if kind is None:
            self._nulls[node.number] = self._nulls.get(node.number, 0) + array.null_count
            return
        if node.number not in self._columns:
            asked = {"histogram": self._sketches, "top_k": self._sketches}
            self._columns[node.number] = ColumnAccumulator.empty(kind, **asked)
        self._columns[node.number].update(array)

    def _column(self, node: Node) -> ColumnStatistics:
        found = self._columns[node.number]
        data, vector = found.statistics(), found.hll.to_bytes() if found.hll else None
        made = Provenance(
            exact=found.kind in _UNCOUNTED_KINDS,
            ndv_standard_error=bit_vector.standard_error(vector),
            rows_seen=found.rows,
            sample_fraction=1.0,
            tool=_TOOL,
        )
        top_k = found.top_k.to_bytes() if found.top_k else None
        return ColumnStatistics(node.path, hive_type(node.type), data, top_k, made)


def _parquet_schema(path: str | Path) -> pa.Schema:
    try:
        return pq.read_schema(path)
    except pa.ArrowInvalid as error:
        raise InvalidInput(f"{path} must be a Parquet file: {error}") from error


def _parquet_batches(path: str | Path) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches()


def _walk(array: pa.Array | None, type_: pa.DataType) -> Iterator[pa.Array | None]:
    """The values of a column and of its parts, in the order of their numbers; None for what is not looked at."""
    if isinstance(array, pa.ExtensionArray):
        array, type_ = array.storage, type_.storage_type
    yield None if array is None or pa.types.is_union(type_) else _plain(array)
    found = None if array is None else _children(array)
    for place, part in enumerate(parts(type_)):
        yield from _walk(found[place] if found else None, part.type)


def _plain(array: pa.Array) -> pa.Array:
    """The values in a form that the accumulators take."""
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_dictionary(array.type) and pa.types.is_uint64(array.type.value_type):
        array = array.dictionary_decode()
    return array.cast(_UINT64_HOLDER) if pa.types.is_uint64(array.type) else array


def _children(array: pa.Array) -> list[pa.Array] | None:
    type_ = array.type
    if pa.types.is_struct(type_):
        return list(array.flatten())
    if pa.types.is_map(type_):
        return [array.cast(pa.list_(type_.field(0))).flatten()]
    return [array.flatten()] if type_.num_fields == 1 and not pa.types.is_union(type_) else None

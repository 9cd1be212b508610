"""Statistics that a Parquet file has in its footer: rows, nulls and bounds, without reading any row.

Numbers, dates and times in a footer are exact; texts and bytes may be cut off by their writer, so their bounds are
estimates. A column is left out if a row group has no statistics of it, and so are the values of lists and maps.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hmstats.errors import InvalidInput
from hmstats.outlets.arrow import names
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.columns import Node, by_path, nodes, values_type
from hmstats.outlets.arrow.of_model import of_rows

_CUT_OFF = (str, bytes)
"""Values that a writer may cut off in a footer."""
_VALUES = (bool, int, float, Decimal, date, datetime, time, *_CUT_OFF)


def footer_statistics(path: str | Path) -> list[Statistic]:
    """The statistics in a Parquet file's footer. Raises InvalidInput if it is no such file, OSError if it cannot be
    read.
    """
    try:
        with pq.ParquetFile(path) as file:
            metadata, schema = file.metadata, file.schema_arrow
    except pa.ArrowInvalid as error:
        raise InvalidInput(f"{path} must be a Parquet file: {error}") from error
    found = of_rows(metadata.num_rows, exact=True)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    known = by_path(nodes(schema))
    for node, place in _leaves(metadata, known):
        chunks = [group.column(place).statistics for group in groups]
        found += _of_column(node, chunks, metadata.num_rows)
    return found


def _leaves(metadata: Any, known: dict[str, Node]) -> Iterator[tuple[Node, int]]:
    """The columns that are no parts of lists, in their order, with their place among the file's columns."""
    paths = [metadata.schema.column(place).path for place in range(metadata.num_columns)]
    often = Counter(paths)
    for place, path in enumerate(paths):
        if path in known and often[path] == 1 and not pa.types.is_nested(known[path].type):
            yield known[path], place


def _of_column(node: Node, chunks: Sequence[Any], rows: int) -> Iterator[Statistic]:
    if any(chunk is None or not chunk.has_null_count for chunk in chunks):
        return
    nulls = sum(chunk.null_count for chunk in chunks)
    yield Statistic(node.number, names.variant(names.NULL_COUNT, exact=True), nulls, pa.int64())
    if nulls == rows:
        yield _distinct(node, 0)
        return
    valued = [chunk for chunk in chunks if chunk.num_values]
    if not valued or not all(chunk.has_min_max for chunk in valued):
        return
    low, high = min(chunk.min for chunk in valued), max(chunk.max for chunk in valued)
    exact = not isinstance(low, _CUT_OFF)
    for name, value in ((names.MIN_VALUE, low), (names.MAX_VALUE, high)):
        held = _arrow_value(value, values_type(node.type))
        if held is None:
            return
        yield Statistic(node.number, names.variant(name, exact=exact), *held)
    if exact and low == high and not isinstance(low, float):
        # A float may be NaN besides, which is no bound.
        yield _distinct(node, 1)


def _distinct(node: Node, count: int) -> Statistic:
    return Statistic(node.number, names.variant(names.DISTINCT_COUNT, exact=True), count, pa.int64())


def _arrow_value(value: Any, type_: pa.DataType) -> tuple[Any, pa.DataType] | None:
    """The value in Arrow's form, with the type of the schema's examples; None if it is not known as it is."""
    if not isinstance(value, _VALUES) or (pa.types.is_timestamp(type_) and type_.unit == "ns"):
        return None
    if pa.types.is_float16(type_):
        return None
    if isinstance(value, bool | str | bytes | float):
        return value, {bool: pa.bool_(), str: pa.string(), bytes: pa.binary(), float: pa.float64()}[type(value)]
    if isinstance(value, int):
        return (value, pa.uint64() if pa.types.is_uint64(type_) else pa.int64())
    if isinstance(value, Decimal):
        return (value, type_) if pa.types.is_decimal(type_) else None
    return pa.scalar(value, type_).value, type_

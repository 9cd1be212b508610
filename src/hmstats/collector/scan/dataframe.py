"""Reads any DataFrame (a view, ORC, text, JDBC) into accumulators, as Arrow batches."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hmstats.collector.options import DEFAULT, Options
from hmstats.collector.planning.pieces import WHOLE_TABLE
from hmstats.collector.scan.arrow_types import as_column
from hmstats.collector.scan.states import States, Types
from hmstats.collector.scan.worker_memory import freeze_modules
from hmstats.errors import UnreadableFile
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_name, quote_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SCHEMA = "piece string, state binary"
_ARROW_SCHEMA = pa.schema([("piece", pa.string()), ("state", pa.binary())])
_COLUMN, _KEY = "__column_", "__key_"
"""The prefixes of columns and partition keys in batches: PySpark takes a dot or a backtick in a name for syntax."""
_ROW = "__row"
"""A constant column, used if there is no other, since Spark sends a batch without columns as one without rows."""


def states(rows: "DataFrame", keys: Sequence[str], types: Types, options: Options = DEFAULT) -> Any:
    """The states of every partition of the rows, in parts, as an RDD of State.

    `keys` are the partition keys, whose values become text.
    """
    return records(states_frame(rows, keys, types, options))


def records(frame: "DataFrame") -> Any:
    """The rows of a frame of states, as an RDD of State."""
    return frame.rdd.map(lambda row: (row.piece, bytes(row.state)))


def states_frame(rows: "DataFrame", keys: Sequence[str], types: Types, options: Options = DEFAULT) -> "DataFrame":
    """The states of every partition of the rows, as a frame that Spark has not run yet."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - the tasks do without

    values = [F.col(quote_name(key)).cast("string").alias(f"{_KEY}{number}") for number, key in enumerate(keys)]
    wanted = rows.select(*columns_by_place(list(types)), *values)
    if options.most_tasks is not None:
        wanted = wanted.coalesce(options.most_tasks)
    return wanted.mapInArrow(partial(task_states, keys=tuple(keys), types=types, options=options), _SCHEMA)


def columns_by_place(names: Sequence[str]) -> "list[Column]":
    """The columns under generated names, so that any names will do; one constant if there are none."""
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - the tasks do without

    named = [F.col(quote_name(name)).alias(f"{_COLUMN}{number}") for number, name in enumerate(names)]
    return named or [F.lit(True).alias(_ROW)]


@freeze_modules
def task_states(
    batches: Iterable[pa.RecordBatch], keys: Sequence[str], types: Types, options: Options = DEFAULT
) -> Iterator[pa.RecordBatch]:
    """The output of one task: a row with the state of each partition of its rows.

    A batch has the columns of `types`, or one constant if there are none, then the keys. Sampling is deterministic: the
    same rows give the same sample.
    """
    found = States(types, options)
    sample = np.random.default_rng(_task_number())
    for batch in batches:
        for piece, part in by_partition(batch, keys, max(1, len(types))):
            if options.sampled:
                seen = part.take(np.flatnonzero(sample.random(part.num_rows) < options.sample_fraction))
                found.of(piece).leave_out(part.num_rows - seen.num_rows)
                part = seen  # noqa: PLW2901 - only these are looked at
            found.of(piece).update(conform_batch(part, types))
    for state in found.encode():
        yield pa.RecordBatch.from_arrays([pa.array([each]) for each in state], schema=_ARROW_SCHEMA)


def _task_number() -> int:
    from pyspark import TaskContext  # noqa: PLC0415 - Spark is there where tasks run

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def by_partition(batch: pa.RecordBatch, keys: Sequence[str], first: int) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each partition with the partition's name; the keys' values are the columns from `first` on."""
    if not keys:
        yield WHOLE_TABLE, batch
        return
    values = pa.table({str(number): batch.column(first + number) for number in range(len(keys))})
    numbered = values.append_column("row", pa.array(np.arange(batch.num_rows, dtype=np.int32)))
    groups = numbered.group_by(values.column_names, use_threads=False).aggregate([("row", "list")])
    for group, rows in zip(groups.select(values.column_names).to_pylist(), groups["row_list"], strict=True):
        texts = [NULL_PARTITION_VALUE if value is None else value for value in group.values()]
        yield partition_name(keys, texts), batch.take(rows.values)


def conform_batch(batch: pa.RecordBatch, types: Types) -> pa.RecordBatch:
    """The batch, columns matched by position, with the names and types of the metastore's columns.

    Raises UnreadableFile if a value does not fit.
    """
    if not types:
        return batch.select([])  # carries the number of rows if there is no array
    arrays = [_values(batch.column(number), name, type_) for number, (name, type_) in enumerate(types.items())]
    return pa.RecordBatch.from_arrays(arrays, list(types))


def _values(array: pa.Array, name: str, column_type: str) -> pa.Array:
    try:
        return as_column(array, column_type)
    except pa.ArrowInvalid as error:
        raise UnreadableFile(
            f"column {name} is of type {column_type} in the metastore, which its values do not fit: {error}"
        ) from error

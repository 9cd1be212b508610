"""Accumulators of a column's values, and of a table's columns, in one pass.

An accumulator takes whole Arrow arrays; two of them merge. Merging is associative and commutative with `empty` as its
identity, so the statistics do not depend on how the rows were split. Exact: rows, nulls, bounds, trues, lengths, and
the registers of the distinct count. Within error bounds: the histogram and the frequent values.
"""

import math
import struct
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from hmstats.errors import SketchError
from hmstats.model.statistics.column_statistics import DATA_CLASSES, ColumnStatistics, Data, Kind
from hmstats.model.statistics.provenance import Provenance
from hmstats.sketch import state_bytes
from hmstats.sketch.distinct.hive_hll import DEFAULT_P, HiveHll
from hmstats.sketch.frequent import frequencies
from hmstats.sketch.frequent.top_k import TopK
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.sketch.values.arrow_bytes import byte_lengths
from hmstats.sketch.values.column_values import Weights, non_null_values
from hmstats.sketch.values.murmur3 import hash_doubles, hash_longs, hash_strings
from hmstats.sketch.values.numbers import Bound, bounds, numbers_of

_COUNTS = struct.Struct("<5Q")
_COLUMN_MAGIC, _TABLE_MAGIC = b"HMSC", b"HMST"
_LENGTH_KINDS = (Kind.STRING, Kind.BINARY)
_UNCOUNTED_KINDS = (Kind.BOOLEAN, Kind.BINARY)


class ColumnAccumulator:
    """One column's rows, nulls, bounds, trues, lengths, distinct values, histogram and frequent values.

    A sketch that the kind has no statistic for is None: `hll` for booleans and binaries, `kll` for kinds without an
    order. All three sketches are None if they were not requested.
    """

    __slots__ = ("high", "hll", "kind", "kll", "low", "max_length", "nulls", "rows", "top_k", "total_length", "trues")

    def __init__(self, kind: Kind, hll: HiveHll | None, kll: KllHistogram | None, top_k: TopK | None) -> None:
        self.kind = kind
        self.hll = hll
        self.kll = kll
        self.top_k = top_k
        self.rows = self.nulls = self.trues = self.max_length = self.total_length = 0
        self.low: Bound | None = None
        self.high: Bound | None = None

    @classmethod
    def empty(
        cls,
        kind: Kind,
        *,
        precision: int = DEFAULT_P,
        distinct: bool = True,
        histogram: bool = True,
        top_k: bool = True,
    ) -> "ColumnAccumulator":
        """An accumulator without values, with these sketches. `precision` is the p of the distinct count."""
        counted, ordered = kind not in _UNCOUNTED_KINDS, kind not in (*_UNCOUNTED_KINDS, Kind.STRING)
        hll = HiveHll(precision) if counted and distinct else None
        return cls(kind, hll, KllHistogram() if ordered and histogram else None, TopK() if top_k else None)

    def update(self, values: pa.Array | pa.ChunkedArray) -> None:
        """Add an array of values, dictionary-encoded or not. Raises SketchError if its type does not fit the kind."""
        for array in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
            found, weights = non_null_values(array, self.kind)
            count = len(found) if weights is None else int(weights.sum())
            self.rows += len(array)
            self.nulls += len(array) - count
            if count:
                self._add(found, weights)

    def merge(self, other: "ColumnAccumulator") -> "ColumnAccumulator":
        """A new accumulator of both sides' values, with the sketches that both have.

        Raises SketchError if the kinds differ.
        """
        if self.kind is not other.kind:
            raise SketchError(f"a column of kind {self.kind.name} does not merge with one of kind {other.kind.name}")
        hll = self.hll.merge(other.hll) if self.hll and other.hll else None
        kll = self.kll.merge(other.kll) if self.kll and other.kll else None
        top_k = self.top_k.merge(other.top_k) if self.top_k and other.top_k else None
        merged = ColumnAccumulator(self.kind, hll, kll, top_k)
        merged.rows = self.rows + other.rows
        merged.nulls = self.nulls + other.nulls
        merged.trues = self.trues + other.trues
        merged.max_length = max(self.max_length, other.max_length)
        merged.total_length = self.total_length + other.total_length
        merged.low, merged.high = self.low, self.high
        merged._widen(other.low, other.high)
        return merged

    def statistics(self, rows: int | None = None) -> Data:
        """The statistics of the column's kind.

        `rows`: extrapolate nulls and trues to so many, of which a part was seen.

        A column without values has 0 distinct values and lengths of 0, as in Hive, and no bounds. NaN counts as a value
        but is no bound. Lengths are in bytes of UTF-8; the average is that of the values that are not null.
        """
        every = self.rows if rows is None else rows
        nulls, trues = (self._extrapolate(count, every) for count in (self.nulls, self.trues))
        fields: dict[str, object] = {"nulls": nulls}
        values = self.rows - self.nulls
        if self.kind is Kind.BOOLEAN:
            if nulls is not None and trues is not None:
                trues = min(trues, every - nulls)  # both may have been rounded up
                fields |= {"trues": trues, "falses": every - nulls - trues}
        elif self.kind in _LENGTH_KINDS:
            average = self.total_length / values if values else 0.0
            fields |= {"max_length": self.max_length, "average_length": average}
        else:
            histogram = self.kll.to_bytes() if self.kll else None
            fields |= {"low": self.low, "high": self.high, "histogram": histogram}
        if self.hll is not None:
            fields |= {"ndv": self.hll.count(), "bit_vector": self.hll.to_bytes()}
        return DATA_CLASSES[self.kind](**fields)  # type: ignore[arg-type]  # each kind has these fields

    def to_bytes(self) -> bytes:
        """The state as bytes, for another process of the same version."""
        counts = _COUNTS.pack(self.rows, self.nulls, self.trues, self.max_length, self.total_length)
        hll = self.hll.to_bytes() if self.hll else b""
        kll = self.kll.to_bytes() if self.kll else b""
        top_k = self.top_k.to_bytes() if self.top_k else b""
        ends = [_bound_text(bound).encode() for bound in (self.low, self.high)]
        parts = [self.kind.value.encode(), counts, *ends, hll, kll, top_k]
        return state_bytes.seal(_COLUMN_MAGIC, state_bytes.join(parts))

    @classmethod
    def from_bytes(cls, data: bytes) -> "ColumnAccumulator":
        """Read a state. Raises SketchError when it is damaged, or of another version."""
        parts = state_bytes.split(state_bytes.unseal(_COLUMN_MAGIC, data))
        if len(parts) != 7 or len(parts[1]) != _COUNTS.size:
            raise SketchError(f"a column's state has 7 parts, not {len(parts)}, or its counts are cut off")
        kind_name, counts, low, high, *sketches = parts
        kind = _kind_of(kind_name)
        read = cls(kind, *_sketches(*sketches))
        read.rows, read.nulls, read.trues, read.max_length, read.total_length = _COUNTS.unpack(counts)
        read.low, read.high = _bound(kind, low), _bound(kind, high)
        if read.nulls + read.trues > read.rows:
            raise SketchError(
                f"a column of {read.rows} rows has {read.nulls} nulls and {read.trues} trues in its state"
            )
        return read

    def _extrapolate(self, count: int, rows: int) -> int | None:
        """A count extrapolated to so many rows; None if no row was seen."""
        if rows == self.rows:
            return count
        return (2 * count * rows + self.rows) // (2 * self.rows) if self.rows else None

    def _add(self, found: pa.Array, weights: Weights | None) -> None:
        """Add values without nulls, each as often as its weight."""
        if self.kind is Kind.BOOLEAN:
            self._add_booleans(found, weights)
        elif self.kind in _LENGTH_KINDS:
            self._add_lengths(found, weights)
        else:
            self._add_numbers(found, weights)

    def _add_booleans(self, found: pa.Array, weights: Weights | None) -> None:
        flags = found.to_numpy(zero_copy_only=False)
        trues = int(flags.sum() if weights is None else np.dot(flags, weights))
        count = len(found) if weights is None else int(weights.sum())
        self.trues += trues
        self._add_frequent(frequencies.Frequencies(pa.array([True, False]), np.array([trues, count - trues]), count))

    def _add_lengths(self, found: pa.Array, weights: Weights | None) -> None:
        counted = frequencies.of_repeated(found, weights) if self.top_k is not None else None
        if counted is not None:
            # Repeated values are counted first, so that each is hashed once.
            found, weights = counted.values, counted.counts
        lengths = byte_lengths(found)
        self.max_length = max(self.max_length, int(lengths.max()))
        self.total_length += int(lengths.sum() if weights is None else np.dot(lengths, weights))
        if self.hll is not None or (self.top_k is not None and counted is None):
            hashes = hash_strings(found)
            if self.hll is not None:
                self.hll.add_hashes(hashes)
            if self.top_k is not None and counted is None:
                counted = frequencies.of_hashed(found, hashes)
        if counted is not None:
            self._add_frequent(counted)

    def _add_numbers(self, found: pa.Array, weights: Weights | None) -> None:
        numbers = numbers_of(found, weights, self.kind)
        self._widen(*(bounds(numbers) or (None, None)))
        if self.kll is not None:
            self.kll.add(numbers.values, numbers.weights)
        if self.hll is None and self.top_k is None:
            return
        values = numbers.values
        hashes = hash_doubles(values) if values.dtype == np.float64 else hash_longs(values)  # type: ignore[arg-type]
        if self.hll is not None:
            self.hll.add_hashes(hashes)
        if self.top_k is not None:
            self._add_frequent(frequencies.of_numbers(numbers, hashes))

    def _add_frequent(self, found: frequencies.Frequencies) -> None:
        if self.top_k is not None:
            items, counts, unseen = frequencies.items(self.kind, found)
            self.top_k.add(items, counts, found.count, unseen)

    def _widen(self, low: Bound | None, high: Bound | None) -> None:
        self.low = min((bound for bound in (self.low, low) if bound is not None), default=None)
        self.high = max((bound for bound in (self.high, high) if bound is not None), default=None)


class TableAccumulator:
    """The number of rows, and an accumulator for each column; in a sample, columns have seen a part."""

    __slots__ = ("columns", "rows")

    def __init__(self, columns: dict[str, ColumnAccumulator], rows: int) -> None:
        self.columns = columns
        self.rows = rows

    @classmethod
    def empty(
        cls,
        columns: Mapping[str, Kind],
        *,
        precision: int = DEFAULT_P,
        distinct: bool = True,
        histogram: bool = True,
        top_k: bool = True,
    ) -> "TableAccumulator":
        """An accumulator without rows. `columns` are names, spelled as in the batches, to kinds."""
        made = {
            name: ColumnAccumulator.empty(
                kind, precision=precision, distinct=distinct, histogram=histogram, top_k=top_k
            )
            for name, kind in columns.items()
        }
        return cls(made, 0)

    def update(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add rows. Other columns are ignored. Raises SketchError if a column is missing."""
        for name, column in self.columns.items():
            found = batch.schema.get_all_field_indices(name)
            if len(found) != 1:
                raise SketchError(f"a batch has the column {name} {len(found)} times, not once: {batch.schema.names}")
            column.update(batch.column(found[0]))
        self.rows += batch.num_rows

    def leave_out(self, rows: int) -> None:
        """Count rows beside the sample, which no column sees."""
        self.rows += rows

    def merge(self, other: "TableAccumulator") -> "TableAccumulator":
        """A new accumulator of both sides' rows. Raises SketchError when the columns or their kinds differ."""
        if self.columns.keys() != other.columns.keys():
            raise SketchError(f"columns {sorted(self.columns)} do not merge with columns {sorted(other.columns)}")
        columns = {name: column.merge(other.columns[name]) for name, column in self.columns.items()}
        return TableAccumulator(columns, self.rows + other.rows)

    def statistics(self, column_types: Mapping[str, str]) -> tuple[ColumnStatistics, ...]:
        """The statistics of all columns, with their top-k sketches. `column_types` are their Hive type strings.

        If columns have seen a part of the rows, their provenance has the number, and nulls and trues are extrapolated
        to all rows. Bounds, lengths, distinct and frequent values are of the seen rows.
        """
        return tuple(
            ColumnStatistics(
                name,
                column_types[name].lower(),
                column.statistics(self.rows),
                top_k=column.top_k.to_bytes() if column.top_k else None,
                provenance=self._sample(column),
            )
            for name, column in self.columns.items()
        )

    def _sample(self, column: ColumnAccumulator) -> Provenance | None:
        if column.rows == self.rows:
            return None
        return Provenance(exact=False, rows_seen=column.rows, sample_fraction=column.rows / self.rows)

    def to_bytes(self) -> bytes:
        """The state as bytes, for another process of the same version."""
        parts = [self.rows.to_bytes(8, "little")]
        for name, column in self.columns.items():
            parts += [name.encode(), column.to_bytes()]
        return state_bytes.seal(_TABLE_MAGIC, state_bytes.join(parts))

    @staticmethod
    def rows_in(data: bytes) -> int:
        """The number of rows of a state. Raises SketchError when it is damaged, or of another version."""
        payload = state_bytes.unseal(_TABLE_MAGIC, data)
        return int.from_bytes(state_bytes.first(payload), "little")

    @classmethod
    def from_bytes(cls, data: bytes) -> "TableAccumulator":
        """Read a state. Raises SketchError when it is damaged, or of another version."""
        parts = state_bytes.split(state_bytes.unseal(_TABLE_MAGIC, data))
        if len(parts) % 2 != 1:
            raise SketchError(f"a table's state has the rows and pairs of name and column, not {len(parts)} parts")
        names: Iterable[str] = (_text(name) for name in parts[1::2])
        columns = {name: ColumnAccumulator.from_bytes(column) for name, column in zip(names, parts[2::2], strict=True)}
        return cls(columns, int.from_bytes(parts[0], "little"))


def _sketches(hll: bytes, kll: bytes, top_k: bytes) -> tuple[HiveHll | None, KllHistogram | None, TopK | None]:
    return (
        HiveHll.from_bytes(hll) if hll else None,
        KllHistogram.from_bytes(kll) if kll else None,
        TopK.from_bytes(top_k) if top_k else None,
    )


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise SketchError(f"a name in a state is no UTF-8: {error}") from error


def _kind_of(name: bytes) -> Kind:
    try:
        return Kind(_text(name))
    except ValueError as error:
        raise SketchError(f"a column's state has an unknown kind: {error}") from error


def _bound_text(bound: Bound | None) -> str:
    if bound is None:
        return ""
    return bound.hex() if isinstance(bound, float) else str(bound)


def _bound(kind: Kind, text: bytes) -> Bound | None:
    if not text:
        return None
    try:
        bound: Bound
        if kind is Kind.DOUBLE:
            bound = float.fromhex(_text(text))
        else:
            bound = Decimal(_text(text)) if kind is Kind.DECIMAL else int(_text(text))
    except (ValueError, OverflowError, InvalidOperation):
        bound = math.nan
    if math.isnan(bound):
        raise SketchError(f"a column's state of kind {kind.name} has an invalid bound: {text[:40]!r}")
    return bound

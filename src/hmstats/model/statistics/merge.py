"""Merges two statistics of one column, of different rows.

The rules are Hive's (org.apache.hadoop.hive.metastore.columnstats.merge): bounds widen, counts add up, lengths are the
longer. If a value is unknown on one side, the other's is used, and a NaN is no bound. The number of distinct values is
the merged sketches', but never less than either side's, since a side without a sketch has values that the other's
sketch lacks.

Merging is associative and commutative, with unknown statistics as its identity.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any, Protocol

from hmstats.errors import InvalidInput
from hmstats.model.statistics import provenance
from hmstats.model.statistics.column_statistics import ColumnStatistics, Data
from hmstats.model.statistics.provenance import Provenance

MAX_I64 = 2**63 - 1


class Sketches(Protocol):
    """Merges sketches; the model has only their bytes."""

    def merge_bit_vectors(self, one: bytes, other: bytes) -> tuple[bytes, int | None]:
        """The merged bit vector, and its number of distinct values: None if both sides do not merge."""
        ...

    def merge_histograms(self, one: bytes, other: bytes) -> bytes:
        """The merged histogram."""
        ...

    def merge_top_k(self, one: bytes, other: bytes) -> bytes | None:
        """The merged sketch, or None if one cannot be read."""
        ...


def merge(one: ColumnStatistics, other: ColumnStatistics, sketches: Sketches) -> ColumnStatistics:
    """Both sides' statistics, under the second's type. Raises InvalidInput when their kinds differ."""
    if one.kind is not other.kind:
        raise InvalidInput(
            f"statistics of column {one.column} of kind {one.kind.value} do not merge with those of kind "
            f"{other.kind.value}"
        )
    return replace(
        other,
        data=merge_data(one.data, other.data, sketches),
        # If one side has no sketch, its values may be the most frequent ones.
        top_k=sketches.merge_top_k(one.top_k, other.top_k) if one.top_k and other.top_k else None,
        provenance=_provenance(one.provenance, other.provenance),
    )


def merge_data(one: Any, other: Any, sketches: Sketches) -> Data:
    """Both sides' statistics, which are of one kind."""
    merged = merge_numbers(one, other)
    names = {field.name for field in fields(one)}
    if "bit_vector" in names:
        merged["bit_vector"], estimate = _merge_bit_vectors(one.bit_vector, other.bit_vector, sketches)
        merged["ndv"] = either(max, merged["ndv"], estimate)
    if "histogram" in names:
        merged["histogram"] = either(sketches.merge_histograms, one.histogram, other.histogram)
    data: Data = type(one)(**merged)
    return data


def merge_numbers(one: Any, other: Any) -> dict[str, Any]:
    """Field to value of both sides' numbers, without sketches."""
    names = [field.name for field in fields(one) if field.name in RULES]
    return {name: either(RULES[name], getattr(one, name), getattr(other, name)) for name in names}


def either(rule: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Merge two values by the rule if both are known; else the known one."""
    known = [value for value in (one, other) if value is not None and value == value]  # noqa: PLR0124 - NaN
    return rule(*known) if len(known) > 1 else next(iter(known), None)


def add(one: int, other: int) -> int:
    """The sum, or the greatest long when that is less."""
    return min(one + other, MAX_I64)


RULES: Mapping[str, Callable[[Any, Any], Any]] = {
    "low": min,
    "high": max,
    "nulls": add,
    "trues": add,
    "falses": add,
    "ndv": max,
    "max_length": max,
    "average_length": max,
}
"""The rule by which each number merges, by field."""


def _provenance(one: Provenance | None, other: Provenance | None) -> Provenance | None:
    return provenance.merge(one or Provenance(), other or Provenance()) if one or other else None


def _merge_bit_vectors(one: bytes | None, other: bytes | None, sketches: Sketches) -> tuple[bytes | None, int | None]:
    if one is None or other is None:
        return one or other, None
    return sketches.merge_bit_vectors(one, other)

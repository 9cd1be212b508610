"""Merges many partitions' stored sketches, streamed and never all in memory.

A stored sketch that cannot be read is skipped and logged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hmstats.errors import SketchError
from hmstats.model.catalog.objects import TableName
from hmstats.service.statistics.merge import log_ignored
from hmstats.sketch.distinct import bit_vector
from hmstats.sketch.quantiles.kll import KllHistogram
from hmstats.store.statistics import aggregates
from hmstats.store.statistics.aggregates import Scope
from hmstats.store.unit.unit import Connection


@dataclass(frozen=True, slots=True)
class MergedVector:
    """The merged bit vectors of one column; not `complete` if one was skipped."""

    vector: bytes | None = None
    complete: bool = True


def bit_vectors(connection: Connection, name: TableName, scope: Scope) -> dict[str, MergedVector]:
    """All bit vectors in the scope, merged by column; the codes of sparse ones are ordered by key."""
    merged: dict[str, MergedVector] = {}
    for rows in aggregates.bit_vectors(connection, scope):
        for column, sketches in _by_column(rows).items():
            merged[column] = _merge_into(name, column, merged.get(column, MergedVector()), sketches)
    return {
        column: replace(each, vector=each.vector and bit_vector.in_order(each.vector))
        for column, each in merged.items()
    }


def histograms(connection: Connection, name: TableName, scope: Scope) -> dict[str, bytes]:
    """All histograms in the scope, merged by column, with the smallest k of them."""
    merged: dict[str, KllHistogram] = {}
    for rows in aggregates.histograms(connection, scope):
        for column, partition, content in rows:
            try:
                found = KllHistogram.from_bytes(content)
            except SketchError as error:
                log_ignored(name, column, error, partition)
                continue
            merged_histogram = merged.get(column)
            if merged_histogram is None or merged_histogram.k > found.k:
                merged_histogram, found = found, merged_histogram or KllHistogram(found.k)
                merged[column] = merged_histogram
            merged_histogram.absorb([found])
    return {column: histogram.to_bytes() for column, histogram in merged.items()}


def _by_column(rows: Sequence[tuple[str, str, bytes]]) -> dict[str, list[tuple[str, bytes]]]:
    by_column: dict[str, list[tuple[str, bytes]]] = {}
    for column, partition, content in rows:
        by_column.setdefault(column, []).append((partition, content))
    return by_column


def _merge_into(
    name: TableName, column: str, before: MergedVector, sketches: Sequence[tuple[str, bytes]]
) -> MergedVector:
    vectors = [] if before.vector is None else [before.vector]
    try:
        vector = bit_vector.merge([*vectors, *(content for _, content in sketches)])
    except SketchError:
        return replace(_merge_into(name, column, before, _readable(name, column, sketches)), complete=False)
    if vector is None:  # two kinds of sketches cannot be merged
        return replace(before, complete=False)
    return replace(before, vector=vector)


def _readable(name: TableName, column: str, sketches: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The sketches that can be read; the others are logged. `sketches` are pairs of partition name and bytes."""
    readable = []
    for partition, content in sketches:
        try:
            bit_vector.check(content)
            readable.append((partition, content))
        except SketchError as error:
            log_ignored(name, column, error, partition)
    return readable

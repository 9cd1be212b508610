"""Merges many partitions' stored sketches, streamed and never all in memory.

A stored sketch that cannot be read is skipped and logged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hmstats.errors import SketchError
from hmstats.model.catalog.objects import TableName
from hmstats.service.statistics.merge import ignored
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
            merged[column] = _taken_in(name, column, merged.get(column, MergedVector()), sketches)
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
                ignored(name, column, error, partition)
                continue
            before = merged.get(column)
            if before is None or before.k > found.k:
                before, found = found, before or KllHistogram(found.k)
                merged[column] = before
            before.absorb([found])
    return {column: histogram.to_bytes() for column, histogram in merged.items()}


def _by_column(rows: Sequence[tuple[str, str, bytes]]) -> dict[str, list[tuple[str, bytes]]]:
    found: dict[str, list[tuple[str, bytes]]] = {}
    for column, partition, content in rows:
        found.setdefault(column, []).append((partition, content))
    return found


def _taken_in(
    name: TableName, column: str, before: MergedVector, sketches: Sequence[tuple[str, bytes]]
) -> MergedVector:
    known = [] if before.vector is None else [before.vector]
    try:
        vector = bit_vector.merge([*known, *(content for _, content in sketches)])
    except SketchError:
        return replace(_taken_in(name, column, before, _sound(name, column, sketches)), complete=False)
    if vector is None:  # two kinds of sketches cannot be merged
        return replace(before, complete=False)
    return replace(before, vector=vector)


def _sound(name: TableName, column: str, sketches: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The sketches that can be read; the others are logged. `sketches` are pairs of partition name and bytes."""
    sound = []
    for partition, content in sketches:
        try:
            bit_vector.check(content)
            sound.append((partition, content))
        except SketchError as error:
            ignored(name, column, error, partition)
    return sound

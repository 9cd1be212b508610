"""Accumulators by piece, serialized to be merged in other tasks or in the driver."""

from collections.abc import Iterable, Iterator, Mapping

from hmstats.collector.options import DEFAULT, Options
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.sketch.accumulator import ColumnAccumulator, TableAccumulator

Types = Mapping[str, str]
"""Hive type by column, of the columns that have statistics."""
State = tuple[str, bytes]
"""A piece's name and its accumulators as bytes; the same piece may come in many parts."""


class States:
    """Accumulators by piece, created on demand."""

    def __init__(self, types: Types, options: Options = DEFAULT) -> None:
        self._options = options
        self._kinds: dict[str, Kind] = {name: kind for name, type_ in types.items() if (kind := kind_of(type_))}
        self._of_pieces: dict[str, TableAccumulator] = {}

    def __len__(self) -> int:
        return len(self._of_pieces)

    def of(self, piece: str) -> TableAccumulator:
        """The piece's accumulators."""
        if piece not in self._of_pieces:
            self._of_pieces[piece] = self._empty()
        return self._of_pieces[piece]

    def merge(self, parts: Iterable[State]) -> None:
        """Merge serialized states."""
        for piece, encoded in parts:
            self._of_pieces[piece] = self.of(piece).merge(TableAccumulator.from_bytes(encoded))

    def total(self) -> TableAccumulator:
        """The merged state of all pieces."""
        total = self._empty()
        for accumulator in self._of_pieces.values():
            total = total.merge(accumulator)
        return total

    def encode(self) -> Iterator[State]:
        """The serialized state of every piece."""
        return ((piece, accumulator.to_bytes()) for piece, accumulator in self._of_pieces.items())

    def _empty(self) -> TableAccumulator:
        made = self._options
        columns = {
            name: ColumnAccumulator.empty(kind, precision=made.precision, **made.sketches_of(name)._asdict())
            for name, kind in self._kinds.items()
        }
        return TableAccumulator(columns, 0)

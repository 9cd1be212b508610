"""Maps rows that Spark has read to their pieces.

Spark names a partition by its keys' values, the metastore by the stored texts: month=1 and month=01 are one value of an
int key. The rows of two partitions with equal values cannot be told apart, so both fail.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hmstats.collector.planning.pieces import Piece
from hmstats.collector.scan.states import State
from hmstats.errors import StatementError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_values
from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.partition_values import canonical_value

Identity = tuple[str, ...]
"""A key that is equal for all texts of a partition's values."""


@dataclass(frozen=True, slots=True)
class Placing:
    """`names` is the name of a piece by its identity; None if the piece is not requested.

    `twins` is by the name of a requested piece another partition with equal values.
    """

    keys: tuple[Column, ...]
    names: Mapping[Identity, str | None]
    twins: Mapping[str, str]

    def place_states(self, states: Iterable[State]) -> Iterator[State]:
        """The states with their pieces' names, or with Spark's names for unknown partitions."""
        return ((name, state) for spark_name, state in states for name in self.pieces_of(spark_name))

    def pieces_of(self, spark_name: str) -> Iterator[str]:
        """The name of the piece for Spark's name: none if it is not requested, Spark's own if it is unknown."""
        values = partition_values(spark_name, [key.name for key in self.keys])
        name = self.names.get(identity(self.keys, values), spark_name)
        if name is not None:
            yield name


def placing(keys: Sequence[Column], wanted: Iterable[Piece], others: Iterable[Piece] = ()) -> Placing:
    """The placing of rows in the wanted pieces; rows of `others` may be read too."""
    names: dict[Identity, list[str]] = defaultdict(list)
    asked: set[str] = set()
    for piece in wanted:
        names[identity(keys, piece.values)].append(piece.name)
        asked.add(piece.name)
    for piece in others:
        names[identity(keys, piece.values)].append(piece.name)
    found = {each: some[0] if len(some) == 1 and some[0] in asked else None for each, some in names.items()}
    groups = [some for some in names.values() if len(some) > 1]
    twins = {name: next(each for each in some if each != name) for some in groups for name in some if name in asked}
    return Placing(tuple(keys), found, twins)


def identity(keys: Sequence[Column], values: Sequence[str]) -> Identity:
    """A key that is equal for all texts of a partition's values; invalid values count as null, as in Spark."""
    return tuple(_value(value, key.type) for key, value in zip(keys, values, strict=True))


def twin_sentence(name: str, twin: str) -> str:
    """The error for a piece with a twin, which cannot be analysed."""
    return (
        f"partition {twin} has the same values as {name}: rows that Spark reads do not tell which of them they are of"
    )


def check_twins(keys: Sequence[Column], pieces: Iterable[Piece]) -> None:
    """Raises StatementError if two of the pieces have equal values."""
    for name, twin in sorted(placing(keys, pieces).twins.items()):
        raise StatementError(twin_sentence(name, twin))


def _value(text: str, key_type: str) -> str:
    try:
        return canonical_value(text, key_type)
    except ValueError:
        return NULL_PARTITION_VALUE

"""Converts values of partition keys, as a caller writes them, to the metastore's texts.

A metastore stores texts as given, and for most types several texts stand for one value, so they are compared by value
(model/partitions/partition_values.py).
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from hmstats.errors import StatementError
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_spec
from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.partition_values import canonical_value
from hmstats.model.statistics.column_types import base_type

KeyValue: TypeAlias = str | int | float | Decimal | date
"""A Python value of a partition key; this includes bool (an int) and datetime (a date)."""
PartitionSpec: TypeAlias = Mapping[str, KeyValue | None]
"""The value by partition key; None instead of a value means every value."""
Partitions: TypeAlias = PartitionSpec | Sequence[str]
"""The partitions with these values, or those with these names: key=value/key=value, of all keys or of some."""
TextSpec: TypeAlias = Mapping[str, str | None]
"""The metastore's text by partition key; None means every value."""

_ONE_TEXT = {"string", "varchar"}
"""Types whose values have exactly one text."""


def spec_of_name(name: str) -> dict[str, str]:
    """The value by key (in lower case) of a partition's name. Raises StatementError if the text is not a name."""
    if not all(separator and key.strip() for key, separator, _ in (each.partition("=") for each in name.split("/"))):
        raise StatementError(f"partition {name!r} is not named KEY=VALUE/KEY=VALUE")
    return partition_spec(name)


def as_text(value: KeyValue) -> str:
    """The value's text in a partition's name; an empty text becomes the null value's name."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or NULL_PARTITION_VALUE


def check_spec(of: str, spec: PartitionSpec, keys: Sequence[Column]) -> dict[str, str | None]:
    """The spec, in the order of the table's keys, with one text for each value (`11` for the `011` of an int).

    Raises StatementError with the table's name `of` for a value that does not fit its key's type. The spec's keys must
    be the table's, in lower case.
    """
    named = ((key.name.lower(), key.type) for key in keys if key.name.lower() in spec)
    return {key: None if (value := spec[key]) is None else _text(of, key, value, type_) for key, type_ in named}


def pruning_values(spec: TextSpec, keys: Sequence[Column]) -> tuple[str, ...]:
    """The texts by which the metastore preselects partitions, one a key; empty if other texts may be equal to it."""
    texts = ((spec.get(key.name.lower()), base_type(key.type) in _ONE_TEXT) for key in keys)
    values = [text if text is not None and unique else "" for text, unique in texts]
    while values and not values[-1]:
        values.pop()
    return tuple(values)


def _text(of: str, key: str, value: KeyValue, key_type: str) -> str:
    text = as_text(value)
    try:
        return canonical_value(text, key_type)
    except ValueError as error:
        problem = f"partition key {key} is of type {key_type}, which {text!r} is no value of"
        raise StatementError(f"table {of}: {problem}") from error

"""Values of partition keys: as a caller writes them, and as the metastore keeps them.

The metastore keeps every value as a text. Most types have one text for each value (`hr=011` is kept as 11); of
decimals, floats and timestamps there are several (1.5 and 1.50), so those are compared by what they mean.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from hmstats.errors import StatementError
from hmstats.model.catalog import Column
from hmstats.model.column_types import base_type
from hmstats.model.names import NULL_PARTITION_VALUE

KeyValue: TypeAlias = str | int | float | Decimal | date
"""A value as Python has it; bool and datetime are among them."""
PartitionSpec: TypeAlias = Mapping[str, KeyValue | None]
"""Partition key to value; a key without a value (None) means every value."""
TextSpec: TypeAlias = Mapping[str, str | None]
"""The same with texts, as the metastore keeps them."""


def as_text(value: KeyValue) -> str:
    """The value as it stands in a partition's name; nothing is the null value's name."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) or NULL_PARTITION_VALUE


def checked(spec: PartitionSpec, keys: Sequence[Column]) -> dict[str, str | None]:
    """The spec, in the order of the table's keys, with the texts that the metastore has for the values.

    Raises StatementError for a value that is none of its key's type. The spec's keys are the table's, lower case.
    """
    named = ((key.name.lower(), key.type) for key in keys if key.name.lower() in spec)
    return {key: None if (value := spec[key]) is None else _text(key, value, type_) for key, type_ in named}


def pruning_values(spec: TextSpec, keys: Sequence[Column]) -> tuple[str, ...]:
    """What the metastore is asked by: a text for each key, empty where any value may stand."""
    texts = ((spec.get(key.name.lower()), base_type(key.type) in _BY_TEXT) for key in keys)
    values = [text if text is not None and unique else "" for text, unique in texts]
    while values and not values[-1]:
        values.pop()
    return tuple(values)


def matches(spec: TextSpec, keys: Sequence[Column], values: Sequence[str]) -> bool:
    """Whether a partition with these values, one for each key, is asked for."""
    return all(
        (wanted := spec.get(key.name.lower())) is None or _same(wanted, value, base_type(key.type))
        for key, value in zip(keys, values, strict=True)
    )


def _text(key: str, value: KeyValue, key_type: str) -> str:
    text, read = as_text(value), _READ.get(base_type(key_type))
    if text == NULL_PARTITION_VALUE or read is None:
        return text
    try:
        found = read(text)
    except (ValueError, InvalidOperation) as error:
        raise StatementError(f"partition key {key} is of type {key_type}, which {text!r} is no value of") from error
    return as_text(found) if base_type(key_type) in _BY_TEXT else text


def _same(wanted: str, value: str, key_type: str) -> bool:
    read = _READ.get(key_type)
    if wanted == value or read is None or NULL_PARTITION_VALUE in (wanted, value):
        return wanted == value
    try:
        return read(wanted) == read(value)
    except (ValueError, InvalidOperation):  # the metastore keeps what it is given
        return False


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _date(text: str) -> date:
    year, month, day = text.strip().split("-")
    return date(int(year), int(month), int(day))


_WHOLE = dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint"), int)
_READ: dict[str, Callable[[str], KeyValue]] = {
    **_WHOLE,
    "boolean": _boolean,
    "date": _date,
    "decimal": Decimal,
    "float": float,
    "double": float,
    "timestamp": datetime.fromisoformat,
}
"""Type to what reads its texts; all other types are texts themselves."""
_BY_TEXT = {"string", "varchar", "char", "boolean", "date", *_WHOLE}
"""Types of which a value has one text."""

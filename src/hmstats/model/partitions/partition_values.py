"""Compares partition keys' values by their meaning, not by their texts.

A metastore stores each value of a partition key as a text, and several texts may mean one value: of an int key `01` and
`1`, of a decimal `1.5` and `1.50`, of a timestamp `10:00:00` and `10:00:00.0`. MSCK, Glue and Impala store the folder's
text; Spark parses the value, and names the partition by it.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Context, Decimal

from hmstats.model.catalog.names import NULL_PARTITION_VALUE, partition_values
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_types import base_type

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity", "-inf": "-Infinity", "-infinity": "-Infinity"}
_EVERY_DIGIT = Context(prec=100)
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{0,9}))?)?")


def canonical_value(text: str, key_type: str) -> str:
    """One text for all texts of a value of this Hive type: of int `1` for `01`, of decimal `1.5` for `1.50`.

    The null value's name, and texts of types without a rule (string, varchar, binary), are their own canonical text.
    Raises ValueError for a text that is no value of the type.
    """
    rule = _RULES.get(base_type(key_type))
    if rule is None or text == NULL_PARTITION_VALUE:
        return text
    try:
        return rule(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no value of type {key_type}") from error


def value_identity(text: str, key_type: str) -> str:
    """The canonical text of a stored value; a text that is no value of its type, which metastores store too, itself."""
    try:
        return canonical_value(text, key_type)
    except ValueError:
        return text


def partition_identity(keys: Sequence[Column], values: Sequence[str]) -> tuple[str, ...]:
    """A key that is equal for all spellings of one partition.

    `values` has one text for each key, in the keys' order.
    """
    return tuple(value_identity(value, key.type) for key, value in zip(keys, values, strict=True))


def names_by_spec(
    specs: Sequence[Mapping[str, str | None]], keys: Sequence[Column], names: Iterable[str]
) -> list[list[str]]:
    """For each spec the partition names, of those given, whose partitions have its values; in one pass over the names.

    A spec is partition key (lower case) to text; a key that it lacks, and a None, stand for every value.
    """
    order = [key.name for key in keys]
    wanted: dict[tuple[int, ...], dict[tuple[str, ...], list[str]]] = defaultdict(dict)
    found = []
    for spec in specs:
        given = [(place, text) for place, key in enumerate(keys) if (text := spec.get(key.name.lower())) is not None]
        values = tuple(value_identity(text, keys[place].type) for place, text in given)
        found.append(wanted[tuple(place for place, _ in given)].setdefault(values, []))
    for name in names:
        every = partition_identity(keys, partition_values(name, order))
        for places, by_values in wanted.items():
            by_values.get(tuple(every[place] for place in places), []).append(name)
    return found


def matching_names(spec: Mapping[str, str | None], keys: Sequence[Column], names: Iterable[str]) -> list[str]:
    """The partition names, of those given, whose partitions have the values of the spec (names_by_spec)."""
    return names_by_spec([spec], keys, names)[0]


def _integer(text: str) -> str:
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError(text)
    return str(int(text))


def _decimal(text: str) -> str:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError(text)
    number = Decimal(text)
    return format(number.normalize(_EVERY_DIGIT), "f") if number else "0"


def _float(text: str) -> str:
    plain = text.strip().lower()
    if plain in _NO_NUMBERS:
        return _NO_NUMBERS[plain]
    if not _NUMBER.fullmatch(plain):
        raise ValueError(text)
    number = float(plain)
    return _NO_NUMBERS[str(number)] if math.isinf(number) else repr(number + 0.0)  # + 0.0: no negative zero


def _boolean(text: str) -> str:
    plain = text.strip().lower()
    if plain not in ("true", "false"):
        raise ValueError(text)
    return plain


def _date(text: str) -> str:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return date(*(int(part) for part in found.groups())).isoformat()


def _timestamp(text: str) -> str:
    """A date alone is its midnight; what is finer than microseconds is cut off, as Spark does."""
    day, _, clock = text.strip().replace("T", " ", 1).partition(" ")
    found = _TIME.fullmatch(clock or "0:0")
    if found is None:
        raise ValueError(text)
    hours, minutes, seconds, fraction = found.groups(default="0")
    time_of_day = time(int(hours), int(minutes), int(seconds), int(fraction[:6].ljust(6, "0")))
    whole = datetime.combine(date.fromisoformat(_date(day)), time_of_day).isoformat(sep=" ")
    return whole.rstrip("0") if time_of_day.microsecond else whole


_RULES: dict[str, Callable[[str], str]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint"), _integer),
    "decimal": _decimal,
    "float": _float,
    "double": _float,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp,
    "char": str.rstrip,
}
"""Type to what gives a value's canonical text; of all other types a text is the value."""

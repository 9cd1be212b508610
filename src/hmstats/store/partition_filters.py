"""Partition filters as SQL over PARTITION_KEY_VALS.

A key of a whole-number type is compared as a number, any other as text, as Hive does; dates sort as their text. A
value that is no number, such as the null value's name, compares with nothing where numbers are compared.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Numeric, Select, and_, case, cast, not_, or_
from sqlalchemy.sql import operators

from hmstats.errors import MetaError
from hmstats.model.catalog import Column
from hmstats.model.column_statistics import Kind
from hmstats.model.column_types import kind_of
from hmstats.model.partition_filter import AllOf, Among, AnyOf, Comparison, Like, Literal, Not, PartitionFilter
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITIONS

OPERATORS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
ESCAPE = "\\"
_PATTERN_PART = re.compile(r"\\.|\.\*|\.", re.DOTALL)
_AS_SQL = {".*": "%", ".": "_"}


def restrict(query: Select[Any], wanted: PartitionFilter, keys: Sequence[Column], dialect_name: str) -> Select[Any]:
    """The query over PARTITIONS, of those partitions only that the filter wants. Raises MetaError for unlike types."""
    values: dict[str, Any] = {}
    for index, key in enumerate(keys):
        name = key.name.lower()
        if name in set(_used(wanted)):
            of_key = PARTITION_KEY_VALS.alias(f"key_{index}")
            here = (of_key.c.PART_ID == PARTITIONS.c.PART_ID) & (of_key.c.INTEGER_IDX == index)
            query = query.join(of_key, here)
            values[name] = _value(of_key.c.PART_KEY_VAL, key, dialect_name)
    numeric = frozenset(key.name.lower() for key in keys if _is_number(key))
    return query.where(_condition(wanted, values, numeric))


def _used(wanted: PartitionFilter) -> Iterator[str]:
    match wanted:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _used(part)
        case Not(inner):
            yield from _used(inner)
        case Comparison(key) | Like(key) | Among(key):
            yield key


def _condition(wanted: PartitionFilter, values: dict[str, Any], numeric: frozenset[str]) -> Any:
    match wanted:
        case AllOf(parts):
            return and_(*(_condition(part, values, numeric) for part in parts))
        case AnyOf(parts):
            return or_(*(_condition(part, values, numeric) for part in parts))
        case Not(inner):
            return not_(_condition(inner, values, numeric))
        case Comparison(key, operator, value):
            return OPERATORS[operator](values[key], _literal(key, value, numeric))
        case Among(key, listed):
            return values[key].in_([_literal(key, value, numeric) for value in listed])
        case Like(key, pattern):
            if key in numeric:
                raise MetaError(f"partition key {key} is a number: like needs a text")
            return values[key].like(like_pattern(pattern), escape=ESCAPE)


def _literal(key: str, value: Literal, numeric: frozenset[str]) -> Literal:
    if key not in numeric:
        return str(value)
    try:
        return int(value)
    except ValueError as error:
        raise MetaError(
            "Filtering is supported only on partition keys of type string, or by whole numbers: "
            f"partition key {key} is a number, found {value!r}"
        ) from error


def _value(text: Any, key: Column, dialect_name: str) -> Any:
    if not _is_number(key):
        return text
    looks_like_number = (
        text.op("NOT GLOB")("*[^0-9-]*") if dialect_name == "sqlite" else text.regexp_match("^-?[0-9]+$")
    )
    return case((looks_like_number, cast(text, Numeric(38, 0))))


def _is_number(key: Column) -> bool:
    return kind_of(key.type) is Kind.LONG


def like_pattern(pattern: str) -> str:
    """Hive's pattern as SQL's: `.*` and `%` are anything, `.` and `_` one character; behind a backslash, themselves."""
    return _PATTERN_PART.sub(lambda part: _AS_SQL.get(part[0], part[0]), pattern)

"""Partition filters as SQL over PARTITION_KEY_VALS.

A key of an integer type is compared as a number, any other as text, as in Hive; dates sort as their text. If numbers
are compared, a value that is no number, such as the name of the null value, matches nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    FromClause,
    Numeric,
    Select,
    and_,
    case,
    cast,
    not_,
    or_,
    type_coerce,
)
from sqlalchemy.sql import operators
from sqlalchemy.sql.elements import TypeCoerce

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import Column
from hmstats.model.catalog.wildcards import check_length
from hmstats.model.partitions.partition_filter import (
    AllOf,
    Among,
    AnyOf,
    Comparison,
    Like,
    Literal,
    Not,
    PartitionFilter,
)
from hmstats.model.statistics.column_statistics import Kind
from hmstats.model.statistics.column_types import kind_of
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITIONS
from hmstats.store.statements.value_sets import one_of

OPERATORS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}
ESCAPE = "\\"
_CONDITIONS_AT_ONCE = 100
_PATTERN_PART = re.compile(r"\\.|\.\*|\.", re.DOTALL)
_AS_SQL = {".*": "%", ".": "_"}


def restrict(
    connection: Connection, query: Select[Any], wanted: PartitionFilter, keys: Sequence[Column]
) -> Select[Any]:
    """The query over PARTITIONS restricted by a filter. Raises MetaError if a number is compared with a text."""
    values: dict[str, Any] = {}
    used_keys = set(_keys_of(wanted))
    for index, key in enumerate(keys):
        name = key.name.lower()
        if name in used_keys:
            of_key, here = _values_of_key(index)
            query = query.join(of_key, here)
            values[name] = _value(of_key.c.PART_KEY_VAL, key, connection.dialect.name)
    numeric = frozenset(key.name.lower() for key in keys if _is_number(key))
    return query.where(uncached(_condition(wanted, _Keys(values, numeric, connection)), wanted))


@lru_cache(maxsize=100)
def _values_of_key(index: int) -> tuple[FromClause, ColumnElement[bool]]:
    """The values of one key, and what joins them to PARTITIONS; cached, since they take long to build."""
    values = PARTITION_KEY_VALS.alias(f"key_{index}")
    return values, (values.c.PART_ID == PARTITIONS.c.PART_ID) & (values.c.INTEGER_IDX == index)


class _Keys(NamedTuple):
    """The SQL of each key's value by name, and the names of numeric keys."""

    values: dict[str, Any]
    numeric: frozenset[str]
    connection: Connection

    def literal(self, key: str, value: Literal) -> Literal:
        """The value in the type of the key's comparison. Raises MetaError for a text if the key is numeric."""
        if key not in self.numeric:
            return str(value)
        try:
            return int(value)
        except ValueError as error:
            raise MetaError(
                "Filtering is supported only on partition keys of type string, or by whole numbers: "
                f"partition key {key} is a number, found {str(value)[:100]!r}"
            ) from error

    def is_one_of(self, key: str, listed: Iterable[Literal]) -> Any:
        """The condition that the key has one of these values, sent as one parameter."""
        column = self.values[key]
        return one_of(self.connection, column, sorted({self.literal(key, value) for value in listed}))


class _Uncached(TypeCoerce[bool]):
    """A condition whose statement SQLAlchemy does not cache."""

    inherit_cache = False


def uncached(condition: Any, wanted: PartitionFilter) -> Any:
    """The condition of a filter; not cached if it is long, since its SQL takes kilobytes for each condition."""
    return _Uncached(condition, Boolean()) if len(list(_keys_of(wanted))) > _CONDITIONS_AT_ONCE else condition


def _keys_of(wanted: PartitionFilter) -> Iterator[str]:
    match wanted:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _keys_of(part)
        case Not(inner):
            yield from _keys_of(inner)
        case Comparison(key) | Like(key) | Among(key):
            yield key


def _condition(wanted: PartitionFilter, keys: _Keys) -> Any:
    match wanted:
        case AllOf(parts):
            return join_conditions(and_, [_condition(part, keys) for part in parts])
        case AnyOf(parts):
            equal, others = _by_key(parts)
            same = [keys.is_one_of(key, listed) for key, listed in equal.items()]
            return join_conditions(or_, [*same, *(_condition(part, keys) for part in others)])
        case Not(inner):
            return not_(_condition(inner, keys))
        case Comparison(key, operator, value):
            return OPERATORS[operator](keys.values[key], keys.literal(key, value))
        case Among(key, listed):
            return keys.is_one_of(key, listed)
        case Like(key, pattern):
            if key in keys.numeric:
                raise MetaError(f"partition key {key} is a number: like needs a text")
            return keys.values[key].like(like_pattern(pattern), escape=ESCAPE)


def _by_key(parts: Iterable[PartitionFilter]) -> tuple[dict[str, list[Literal]], list[PartitionFilter]]:
    """Divide alternatives into the values that each key may equal, and other conditions."""
    equal: dict[str, list[Literal]] = {}
    others: list[PartitionFilter] = []
    for part in parts:
        match part:
            case Comparison(key, "=", value):
                equal.setdefault(key, []).append(value)
            case Among(key, listed):
                equal.setdefault(key, []).extend(listed)
            case _:
                others.append(part)
    return equal, others


def join_conditions(operator: Callable[..., Any], conditions: Sequence[Any]) -> Any:
    """Join many conditions in nested groups: SQLite and PostgreSQL recurse once for each condition of a chain."""
    while len(conditions) > _CONDITIONS_AT_ONCE:
        starts = range(0, len(conditions), _CONDITIONS_AT_ONCE)
        conditions = [_grouped(operator(*conditions[each : each + _CONDITIONS_AT_ONCE])) for each in starts]
    return operator(*conditions)


def _grouped(condition: Any) -> Any:
    """The condition in brackets that SQLAlchemy does not remove."""
    return type_coerce(condition, Boolean).self_group()


def _value(text: Any, key: Column, dialect_name: str) -> Any:
    if not _is_number(key):
        return text
    return case((_looks_like_number(text, dialect_name), cast(text, Numeric())))


def _looks_like_number(text: Any, dialect_name: str) -> Any:
    """Whether the text is digits, perhaps after a minus; Numeric holds any number of digits."""
    if dialect_name != "sqlite":
        return text.regexp_match("^-?[0-9]+$")
    begins = or_(text.op("GLOB")("[0-9]*"), text.op("GLOB")("-[0-9]*"))
    return and_(begins, text.op("NOT GLOB")("?*[^0-9]*"))


def _is_number(key: Column) -> bool:
    return kind_of(key.type) is Kind.LONG


def like_pattern(pattern: str) -> str:
    """Hive's pattern as SQL's: `.*` and `%` match anything, `.` and `_` one character; a backslash escapes them.

    Raises MetaError if it is too long.
    """
    check_length(pattern)
    return _PATTERN_PART.sub(lambda part: _AS_SQL.get(part[0], part[0]), pattern)

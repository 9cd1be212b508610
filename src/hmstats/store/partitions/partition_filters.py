"""Partition filters as SQL over PARTITION_KEY_VALS.

A key of an integer type is compared as a number, any other as text by its bytes, as in Hive; dates sort as their text.
If numbers are compared, a value that is no number matches nothing. The null value of numbers, dates and timestamps is
compared with its own name alone, as in Hive 4: with that name all values of the key are compared as texts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
    func,
    not_,
    or_,
    type_coerce,
)
from sqlalchemy.sql import operators
from sqlalchemy.sql.elements import TypeCoerce

from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import Column
from hmstats.model.catalog.wildcards import LIKE_TOKEN, check_length
from hmstats.model.partitions.partition_filter import (
    AllOf,
    Among,
    AnyOf,
    Comparison,
    Like,
    Literal,
    Not,
    PartitionFilter,
    check_like,
    comparable,
    divide_alternatives,
    is_number,
    is_time,
)
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITIONS
from hmstats.store.statements.ordering import by_bytes_of
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
_TOKENS_AS_SQL = {".*": "%", ".": "_"}


def restrict(
    connection: Connection, query: Select[Any], wanted: PartitionFilter, keys: Sequence[Column]
) -> Select[Any]:
    """The query over PARTITIONS restricted by a filter. Raises MetaError if a number is compared with a text."""
    values: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    used_keys = set(_keys_of(wanted))
    for index, key in enumerate(keys):
        name = key.name.lower()
        if name in used_keys:
            of_key, here = _values_of_key(index)
            query = query.join(of_key, here)
            texts[name] = by_bytes_of(connection.dialect.name, of_key.c.PART_KEY_VAL)
            values[name] = _value(of_key.c.PART_KEY_VAL, key, connection.dialect.name)
    by_name = {key.name.lower(): key for key in keys}
    return query.where(uncached(_condition(wanted, _Keys(values, texts, by_name, connection)), wanted))


@lru_cache(maxsize=100)
def _values_of_key(index: int) -> tuple[FromClause, ColumnElement[bool]]:
    """The values of one key, and what joins them to PARTITIONS; cached, since they take long to build."""
    values = PARTITION_KEY_VALS.alias(f"key_{index}")
    return values, (values.c.PART_ID == PARTITIONS.c.PART_ID) & (values.c.INTEGER_IDX == index)


class _Keys(NamedTuple):
    """The SQL of each key's value and of its text, and each key, by its name in lower case."""

    values: dict[str, Any]
    texts: dict[str, Any]
    keys: dict[str, Column]
    connection: Connection

    def literal(self, key: str, value: Literal) -> Literal:
        """The value in the type of the key's comparison. Raises MetaError for another text if the key is numeric."""
        return comparable(self.keys[key], value)

    def compared(self, key: str, literals: Collection[Literal]) -> Any:
        """The SQL that is compared with these literals."""
        return self.texts[key] if NULL_PARTITION_VALUE in literals else self.values[key]

    def is_one_of(self, key: str, listed: Iterable[Literal]) -> Any:
        """The condition that the key has one of these values, sent as one parameter; the null's name by itself."""
        literals = {self.literal(key, value) for value in listed}
        null = literals & {NULL_PARTITION_VALUE}
        groups = [each for each in (literals - null, null) if each]
        return or_(*(one_of(self.connection, self.compared(key, each), sorted(each)) for each in groups))


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
            equal, others = divide_alternatives(parts)
            same = [keys.is_one_of(key, listed) for key, listed in equal.items()]
            return join_conditions(or_, [*same, *(_condition(part, keys) for part in others)])
        case Not(inner):
            return not_(_condition(inner, keys))
        case Comparison(key, operator, value):
            literal = keys.literal(key, value)
            return OPERATORS[operator](keys.compared(key, [literal]), literal)
        case Among(key, listed):
            return keys.is_one_of(key, listed)
        case Like(key, pattern):
            check_like(keys.keys[key])
            return keys.values[key].like(like_pattern(pattern), escape=ESCAPE)


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
    if is_time(key):
        text = func.nullif(text, NULL_PARTITION_VALUE, type_=text.type)
    if not is_number(key):
        return by_bytes_of(dialect_name, text)
    return case((_looks_like_number(text, dialect_name), cast(text, Numeric())))


def _looks_like_number(text: Any, dialect_name: str) -> Any:
    """Whether the text is digits, perhaps after a minus; Numeric holds any number of digits."""
    if dialect_name != "sqlite":
        return text.regexp_match("^-?[0-9]+$")
    begins = or_(text.op("GLOB")("[0-9]*"), text.op("GLOB")("-[0-9]*"))
    return and_(begins, text.op("NOT GLOB")("?*[^0-9]*"))


def like_pattern(pattern: str) -> str:
    """Hive's pattern as SQL's, as `compile_like` reads it. Raises MetaError if it is too long."""
    check_length(pattern)
    return LIKE_TOKEN.sub(lambda token: _TOKENS_AS_SQL.get(token[0], token[0]), pattern)

"""Filters over tables as SQL: by name, type, owner, last access and parameters."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection, and_, not_, or_, select

from hmstats.errors import MetaError
from hmstats.model.catalog.objects import DatabaseName
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
from hmstats.store.partitions.partition_filters import ESCAPE, OPERATORS, join_conditions, like_pattern, uncached
from hmstats.store.schema import DBS, TABLE_PARAMS, TBLS
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.value_sets import one_of


class Field(Enum):
    """A key of a filter that is no parameter."""

    NAME = "TBL_NAME"
    TYPE = "TBL_TYPE"
    OWNER = "OWNER"
    LAST_ACCESS = "LAST_ACCESS_TIME"


Keys: TypeAlias = Mapping[str, Field | str]
"""For each key of a filter the field, or the name of the parameter."""


def names(
    connection: Connection, database: DatabaseName, wanted: PartitionFilter | None, keys: Keys, limit: int | None
) -> list[str]:
    """The names of the tables that a filter selects, sorted, at most `limit`; all tables if it is None.

    Raises MetaError for an unsupported comparison: parameters support =, != and like, the last access all but like.
    """
    query = select(TBLS.c.TBL_NAME).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    query = query.where(DBS.c.NAME == database.database, DBS.c.CTLG_NAME == database.catalog)
    if wanted is not None:
        query = query.where(uncached(_condition(connection, wanted, keys), wanted))
    query = query.order_by(by_bytes(connection, TBLS.c.TBL_NAME))
    return list(connection.execute(query.limit(limit)).scalars())


def _condition(connection: Connection, wanted: PartitionFilter, keys: Keys) -> Any:
    match wanted:
        case AllOf(parts):
            return join_conditions(and_, [_condition(connection, part, keys) for part in parts])
        case AnyOf(parts):
            return join_conditions(or_, [_condition(connection, part, keys) for part in parts])
        case Not(inner):
            return not_(_condition(connection, inner, keys))
        case Like(key, pattern):
            return _of_key(keys[key], "like", [like_pattern(pattern)], _like)
        case Among(key, values):
            return _of_key(keys[key], "=", values, partial(one_of, connection))
        case Comparison(key, operator, value):
            return _of_key(keys[key], operator, [value], partial(_compare, operator))


_Fits = Callable[[Any, Sequence[Literal]], Any]
"""Builds the condition from a column and the values that it is compared with."""


def _of_key(key: Field | str, operator: str, values: Sequence[Literal], fits: _Fits) -> Any:
    if key is Field.LAST_ACCESS:
        return _of_last_access(operator, values, fits)
    if isinstance(key, Field):
        return fits(TBLS.c[key.value], list(map(str, values)))
    if operator not in ("=", "!=", "like"):
        raise MetaError(f"Only =, <>, != and like are supported for table parameters, found {operator} for {key}")
    p = TABLE_PARAMS.c
    here = select(1).where(p.TBL_ID == TBLS.c.TBL_ID, p.PARAM_KEY == key)
    return here.where(fits(p.PARAM_VALUE, list(map(str, values)))).exists()


def _of_last_access(operator: str, values: Sequence[Literal], fits: _Fits) -> Any:
    texts = [value for value in values if not isinstance(value, int)]
    if operator == "like" or texts:
        raise MetaError(
            f"a table's last access must be compared with numbers, found {operator} {(texts or values)[0]!r}"
        )
    return fits(TBLS.c.LAST_ACCESS_TIME, values)


def _like(column: Any, values: Sequence[Literal]) -> Any:
    return column.like(values[0], escape=ESCAPE)


def _compare(operator: str, column: Any, values: Sequence[Literal]) -> Any:
    return OPERATORS[operator](column, values[0])

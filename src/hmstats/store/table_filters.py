"""Filters over tables as SQL: their owner, when they were last used, and their parameters."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, and_, not_, or_, select

from hmstats.errors import MetaError
from hmstats.model.catalog import DatabaseName
from hmstats.model.partition_filter import AllOf, Among, AnyOf, Comparison, Like, Literal, Not, PartitionFilter
from hmstats.store.ordering import by_bytes
from hmstats.store.partition_filters import ESCAPE, OPERATORS, like_pattern
from hmstats.store.schema import DBS, TABLE_PARAMS, TBLS

OWNER, LAST_ACCESS = "owner", "last access"
"""Names of the two keys of a filter that are no parameters."""


def names(
    connection: Connection, database: DatabaseName, wanted: PartitionFilter, keys: Mapping[str, str], limit: int | None
) -> list[str]:
    """The names of the tables that a filter wants, sorted, at most `limit`.

    `keys` has for each key of the filter OWNER, LAST_ACCESS or the name of a parameter. Raises MetaError for a
    comparison that a key does not have: parameters have =, != and like, the time of use has no like.
    """
    query = select(TBLS.c.TBL_NAME).join(DBS, DBS.c.DB_ID == TBLS.c.DB_ID)
    query = query.where(DBS.c.NAME == database.database, DBS.c.CTLG_NAME == database.catalog)
    query = query.where(_condition(wanted, keys)).order_by(by_bytes(connection, TBLS.c.TBL_NAME))
    return list(connection.execute(query.limit(limit)).scalars())


def _condition(wanted: PartitionFilter, keys: Mapping[str, str]) -> Any:
    match wanted:
        case AllOf(parts):
            return and_(*(_condition(part, keys) for part in parts))
        case AnyOf(parts):
            return or_(*(_condition(part, keys) for part in parts))
        case Not(inner):
            return not_(_condition(inner, keys))
        case Like(key, pattern):
            return _of_key(keys[key], "like", like_pattern(pattern))
        case Among(key, values):
            return or_(*(_of_key(keys[key], "=", value) for value in values))
        case Comparison(key, operator, value):
            return _of_key(keys[key], operator, value)


def _of_key(key: str, operator: str, value: Literal) -> Any:
    if key == OWNER:
        return _compare(TBLS.c.OWNER, operator, str(value))
    if key == LAST_ACCESS:
        if operator == "like" or not isinstance(value, int):
            raise MetaError(f"the time of use of a table is compared with numbers, found {operator} {value!r}")
        return _compare(TBLS.c.LAST_ACCESS_TIME, operator, value)
    if operator not in ("=", "!=", "like"):
        raise MetaError(f"Only =, <>, != and like are supported for table parameters, found {operator} for {key}")
    p = TABLE_PARAMS.c
    here = select(1).where(p.TBL_ID == TBLS.c.TBL_ID, p.PARAM_KEY == key)
    return here.where(_compare(p.PARAM_VALUE, operator, str(value))).exists()


def _compare(column: Any, operator: str, value: Literal) -> Any:
    return column.like(value, escape=ESCAPE) if operator == "like" else OPERATORS[operator](column, value)

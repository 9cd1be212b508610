"""Partitions whose statistics are written: locked, with those of their parameters that bear on statistics.

In a database that is ours one statement does both: whoever changes a partition has locked its table's row before, so
nothing of it changes while the statement waits. Beside a Hive, which locks in other ways, it takes two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, FromClause, Select, and_, bindparam, literal_column, or_, select

from hmstats.model.accurate import PARAMETER
from hmstats.model.catalog import Parameters, TableName
from hmstats.store import parameters, partitions, tables, targets
from hmstats.store.parameters import OF_PARTITIONS
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.shape import WHOLE
from hmstats.store.single import OneOf, SingleRead, listed
from hmstats.store.targets import Target, word
from hmstats.store.unit import Unit

_LOOKED_AT = (PARAMETER, "numRows")
_PARTITION, _PARAMETER = "partition", "parameter of partition"
_P, _N = PARTITIONS.c, PARTITION_PARAMS.c


class Locked(NamedTuple):
    """Name to id of those that exist, and by id what is known of each that has such parameters."""

    ids: dict[str, int]
    known: Mapping[int, Parameters]


class LockedTable(NamedTuple):
    """A table, and those of its partitions that were asked for."""

    target: Target
    partitions: Locked


def lock(unit: Unit, table_id: int, wanted: Sequence[str]) -> Locked:
    """Lock partitions of a table, whose row the unit has locked, in the order of their ids until the unit ends."""
    if unit.shape is not WHOLE:
        ids = partitions.lock(unit, table_id, wanted)
        return Locked(ids, parameters.read(unit.connection, OF_PARTITIONS, list(ids.values()), _LOOKED_AT))
    rows = _LOCK.within(unit, {"table_id": table_id, "names": listed(unit.connection.engine, wanted)})
    ids = {name: partition_id for name, partition_id, *_ in rows}
    return Locked(ids, _known([row[1:] for row in rows if row[2] is not None]))


def lock_with_table(
    unit: Unit, name: TableName, wanted: Sequence[str], known: Target | None = None
) -> LockedTable | None:
    """Lock a table and then partitions of it; None without the table. Where the database allows, in one round trip.

    `known` as for targets.lock.
    """
    if not targets.is_one_trip(unit):
        target = targets.lock(unit, name)
        return None if target is None else LockedTable(target, lock(unit, target.id, wanted))
    names = listed(unit.connection.engine, wanted)
    values = {**targets.named(name), **targets.known_as(known), "names": names}
    rows = _FOUND.after([targets.LOCK, _LOCK_NAMED], unit, values)
    target = targets.of_rows([row for row in rows if row[2] not in (_PARTITION, _PARAMETER)], known)
    if target is None:
        return None
    ids = {text: place for _, _, kind, place, text, _ in rows if kind == _PARTITION}
    return LockedTable(target, Locked(ids, _known([row[3:] for row in rows if row[2] == _PARAMETER])))


def _known(rows: Sequence[tuple[int, str, str | None]]) -> Mapping[int, Parameters]:
    """From ids, keys and values."""
    known: dict[int, dict[str, str]] = {}
    for partition_id, key, value in rows:
        known.setdefault(partition_id, {})[key] = value or ""
    return known


def _looked_at() -> ColumnElement[bool]:
    return or_(*(_N.PARAM_KEY == literal_column(f"'{key}'") for key in _LOOKED_AT))


def _query(one_of: OneOf) -> Select[Any]:
    return (
        select(_P.PART_NAME, _P.PART_ID, _N.PARAM_KEY, _N.PARAM_VALUE)
        .select_from(PARTITIONS.outerjoin(PARTITION_PARAMS, and_(_N.PART_ID == _P.PART_ID, _looked_at())))
        .where(_P.TBL_ID == bindparam("table_id", type_=BigInteger()), one_of(_P.PART_NAME, "names"))
        .order_by(_P.PART_ID)
        .with_for_update(of=PARTITIONS)
    )


def _named(one_of: OneOf) -> Select[Any]:
    """The ids of named partitions of a named table, to be locked in their order."""
    query = select(_P.PART_ID).where(_P.TBL_ID == tables.ID.scalar_subquery(), one_of(_P.PART_NAME, "names"))
    return query.order_by(_P.PART_ID).with_for_update(of=PARTITIONS)


def _found(one_of: OneOf) -> Any:
    """What a target is made of, and the same of partitions."""

    def rows(table: FromClause) -> list[Select[Any]]:
        t, here = table.c, and_(_P.TBL_ID == table.c.TBL_ID, one_of(_P.PART_NAME, "names"))
        of_params = PARTITIONS.join(PARTITION_PARAMS, and_(_N.PART_ID == _P.PART_ID, _looked_at()))
        return [
            select(t.TBL_ID, t.VERSION, word(_PARTITION), _P.PART_ID, _P.PART_NAME, word("")).where(here),
            select(t.TBL_ID, t.VERSION, word(_PARAMETER), _P.PART_ID, _N.PARAM_KEY, _N.PARAM_VALUE)
            .select_from(table.join(of_params, _P.TBL_ID == t.TBL_ID))
            .where(one_of(_P.PART_NAME, "names")),
        ]

    return targets.target_query(rows)


_LOCK, _LOCK_NAMED = SingleRead(_query), SingleRead(_named)
_FOUND = SingleRead(_found)

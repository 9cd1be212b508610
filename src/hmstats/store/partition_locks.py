"""Partitions whose statistics are written: locked, with those of their parameters that bear on statistics.

In a database that is ours one statement does both: whoever changes a partition has locked its table's row before, so
nothing of it changes while the statement waits. Beside a Hive, which locks in other ways, it takes two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Select, and_, bindparam, literal_column, or_, select

from hmstats.model.accurate import PARAMETER
from hmstats.model.catalog import Parameters
from hmstats.store import parameters, partitions
from hmstats.store.parameters import OF_PARTITIONS
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.shape import WHOLE
from hmstats.store.single import OneOf, SingleRead, listed
from hmstats.store.unit import Unit

_LOOKED_AT = (PARAMETER, "numRows")


class Locked(NamedTuple):
    """Name to id of those that exist, and by id what is known of each that has such parameters."""

    ids: dict[str, int]
    known: Mapping[int, Parameters]


def lock(unit: Unit, table_id: int, wanted: Sequence[str]) -> Locked:
    """Lock partitions of a table, whose row the unit has locked, in the order of their ids until the unit ends."""
    if unit.shape is not WHOLE:
        ids = partitions.lock(unit, table_id, wanted)
        return Locked(ids, parameters.read(unit.connection, OF_PARTITIONS, list(ids.values()), _LOOKED_AT))
    rows = _LOCK.within(unit, {"table_id": table_id, "names": listed(unit.connection.engine, wanted)})
    known: dict[int, dict[str, str]] = {}
    for _, partition_id, key, value in rows:
        if key is not None:
            known.setdefault(partition_id, {})[key] = value or ""
    return Locked({name: partition_id for name, partition_id, *_ in rows}, known)


def _query(one_of: OneOf) -> Select[Any]:
    p, n = PARTITIONS.c, PARTITION_PARAMS.c
    looked_at = or_(*(n.PARAM_KEY == literal_column(f"'{key}'") for key in _LOOKED_AT))
    return (
        select(p.PART_NAME, p.PART_ID, n.PARAM_KEY, n.PARAM_VALUE)
        .select_from(PARTITIONS.outerjoin(PARTITION_PARAMS, and_(n.PART_ID == p.PART_ID, looked_at)))
        .where(p.TBL_ID == bindparam("table_id", type_=BigInteger()), one_of(p.PART_NAME, "names"))
        .order_by(p.PART_ID)
        .with_for_update(of=PARTITIONS)
    )


_LOCK = SingleRead(_query)

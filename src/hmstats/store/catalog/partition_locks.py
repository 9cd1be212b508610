"""Locks partitions whose statistics are written, and reads their parameters about statistics.

In hmstats' own database one statement does both: each writer of a partition has locked its table's row before, so
nothing of it changes while the statement waits. Beside a Hive, which locks differently, it takes two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, FromClause, Select, and_, bindparam, literal_column, or_, select

from hmstats.model.catalog.objects import Parameters, TableName
from hmstats.model.parameters.accurate import PARAMETER
from hmstats.store.beside_hive.present_tables import COMPLETE
from hmstats.store.catalog import tables
from hmstats.store.partitions import partitions
from hmstats.store.schema import PARTITION_PARAMS, PARTITIONS
from hmstats.store.statements.single_read import OneOf, SingleRead, listed
from hmstats.store.statistics import table_facts
from hmstats.store.statistics.table_facts import TableFacts, constant
from hmstats.store.storage import parameters
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.unit.unit import Unit

_PARAMETERS_READ = (PARAMETER, "numRows")
_PARTITION, _PARAMETER = "partition", "parameter of partition"
_P, _N = PARTITIONS.c, PARTITION_PARAMS.c


class LockedPartitions(NamedTuple):
    """Partition ids by name, of partitions that exist, and their parameters by id, if any."""

    ids: dict[str, int]
    parameters: Mapping[int, Parameters]


class LockedTable(NamedTuple):
    """A locked table, and its locked partitions."""

    target: TableFacts
    partitions: LockedPartitions


def lock(unit: Unit, table_id: int, names: Sequence[str]) -> LockedPartitions:
    """Lock partitions in id order until the unit ends; the unit must have locked their table's row."""
    if unit.shape is not COMPLETE:
        ids = partitions.lock(unit, table_id, names)
        return LockedPartitions(
            ids, parameters.read(unit.connection, OF_PARTITIONS, list(ids.values()), _PARAMETERS_READ)
        )
    rows = _LOCK.rows_in_unit(unit, {"table_id": table_id, "names": listed(unit.connection.engine, names)})
    ids = {name: partition_id for name, partition_id, *_ in rows}
    return LockedPartitions(ids, _parameters_by_id([row[1:] for row in rows if row[2] is not None]))


def lock_with_table(
    unit: Unit, name: TableName, names: Sequence[str], cached: TableFacts | None = None
) -> LockedTable | None:
    """Lock a table and then partitions of it, in one round trip if the database allows; None if it does not exist.

    `cached` is the cached target, which is not read again if the version is unchanged.
    """
    if not table_facts.is_one_trip(unit):
        target = table_facts.lock(unit, name)
        return None if target is None else LockedTable(target, lock(unit, target.id, names))
    listed_names = listed(unit.connection.engine, names)
    values = {**table_facts.name_parameters(name), **table_facts.cached_parameters(cached), "names": listed_names}
    rows = _READ.rows_after([table_facts.LOCK, _LOCK_NAMED], unit, values)
    target = table_facts.parse_rows([row for row in rows if row[2] not in (_PARTITION, _PARAMETER)], cached)
    if target is None:
        return None
    ids = {text: partition_id for _, _, kind, partition_id, text, _ in rows if kind == _PARTITION}
    return LockedTable(
        target, LockedPartitions(ids, _parameters_by_id([row[3:] for row in rows if row[2] == _PARAMETER]))
    )


def _parameters_by_id(rows: Sequence[tuple[int, str, str | None]]) -> Mapping[int, Parameters]:
    """Parameters by partition id, from rows of id, key and value."""
    parameters: dict[int, dict[str, str]] = {}
    for partition_id, key, value in rows:
        parameters.setdefault(partition_id, {})[key] = value or ""
    return parameters


def _is_parameter_read() -> ColumnElement[bool]:
    return or_(*(_N.PARAM_KEY == literal_column(f"'{key}'") for key in _PARAMETERS_READ))


def _lock_query(one_of: OneOf) -> Select[Any]:
    return (
        select(_P.PART_NAME, _P.PART_ID, _N.PARAM_KEY, _N.PARAM_VALUE)
        .select_from(PARTITIONS.outerjoin(PARTITION_PARAMS, and_(_N.PART_ID == _P.PART_ID, _is_parameter_read())))
        .where(_P.TBL_ID == bindparam("table_id", type_=BigInteger()), one_of(_P.PART_NAME, "names"))
        .order_by(_P.PART_ID)
        .with_for_update(of=PARTITIONS)
    )


def _lock_by_name_query(one_of: OneOf) -> Select[Any]:
    """The query that locks named partitions of a named table in id order."""
    query = select(_P.PART_ID).where(_P.TBL_ID == tables.ID.scalar_subquery(), one_of(_P.PART_NAME, "names"))
    return query.order_by(_P.PART_ID).with_for_update(of=PARTITIONS)


def _read_query(one_of: OneOf) -> Any:
    """The query for the rows of a target, and for ids and parameters of its named partitions."""

    def rows(table: FromClause) -> list[Select[Any]]:
        t, here = table.c, and_(_P.TBL_ID == table.c.TBL_ID, one_of(_P.PART_NAME, "names"))
        of_params = PARTITIONS.join(PARTITION_PARAMS, and_(_N.PART_ID == _P.PART_ID, _is_parameter_read()))
        return [
            select(t.TBL_ID, t.VERSION, constant(_PARTITION), _P.PART_ID, _P.PART_NAME, constant("")).where(here),
            select(t.TBL_ID, t.VERSION, constant(_PARAMETER), _P.PART_ID, _N.PARAM_KEY, _N.PARAM_VALUE)
            .select_from(table.join(of_params, _P.TBL_ID == t.TBL_ID))
            .where(one_of(_P.PART_NAME, "names")),
        ]

    return table_facts.target_query(rows)


_LOCK, _LOCK_NAMED = SingleRead(_lock_query), SingleRead(_lock_by_name_query)
_READ = SingleRead(_read_query)

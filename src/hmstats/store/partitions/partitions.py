"""Partitions: PARTITIONS with values, parameters and storage, always as sets and in a constant number of statements."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import JSON, Connection, bindparam, delete, func, select, update

from hmstats.model.catalog.objects import Column, Partition, Storage
from hmstats.model.parameters import accurate
from hmstats.model.partitions.partition_filter import PartitionFilter
from hmstats.model.partitions.partitions_by_name import NO_PARTITIONS, PartitionsByColumn, PartitionsByName
from hmstats.store.history import before_writes
from hmstats.store.history.replaced_rows import OwnerKind
from hmstats.store.partitions.partition_filters import restrict
from hmstats.store.schema import (
    HMSTATS_COLUMN_PROVENANCE,
    HMSTATS_HEALTH,
    HMSTATS_PENDING,
    HMSTATS_PENDING_COLUMN,
    HMSTATS_PREFERENCE,
    HMSTATS_STATISTICS_LOCK,
    HMSTATS_TOP_K,
    PART_COL_PRIVS,
    PART_COL_STATS,
    PART_PRIVS,
    PARTITION_KEY_VALS,
    PARTITION_PARAMS,
    PARTITIONS,
    SDS,
    TBLS,
)
from hmstats.store.statements import queued
from hmstats.store.statements.ordering import by_bytes
from hmstats.store.statements.value_sets import one_of
from hmstats.store.statistics import column_statistics
from hmstats.store.storage import descriptors, drop_locations, parameters
from hmstats.store.storage.descriptor_rows import COLUMNS, OWNERS, Storages, location_in, read_parts, with_descriptor
from hmstats.store.storage.parameters import OF_PARTITIONS
from hmstats.store.storage.parts import PartQuery
from hmstats.store.unit import ids
from hmstats.store.unit.prepared import PREPARED
from hmstats.store.unit.unit import Unit

_PARTITION_ID_COLUMNS = tuple(
    table.c.PART_ID
    for table in (
        HMSTATS_COLUMN_PROVENANCE,
        HMSTATS_PENDING,
        HMSTATS_PENDING_COLUMN,
        HMSTATS_PREFERENCE,
        HMSTATS_HEALTH,
        HMSTATS_STATISTICS_LOCK,
        HMSTATS_TOP_K,
        PART_COL_STATS,
        PART_PRIVS,
        PART_COL_PRIVS,
        PARTITION_PARAMS,
        PARTITION_KEY_VALS,
        PARTITIONS,
    )
)
"""The columns with a partition's id in all tables with rows of it, its own last."""
_OWN = (
    PARTITIONS.c.PART_ID,
    PARTITIONS.c.PART_NAME,
    PARTITIONS.c.SD_ID,
    PARTITIONS.c.CREATE_TIME,
    PARTITIONS.c.LAST_ACCESS_TIME,
    PARTITIONS.c.WRITE_ID,
)
_QUERY = (
    select(*_OWN, *COLUMNS).select_from(with_descriptor(PARTITIONS, PARTITIONS.c.SD_ID)).execution_options(**PREPARED)
)
_NAME_IN = itemgetter(1)
"""The name in a row of that query."""
_VALUE, _PARAMETER = "value", "parameter of partition"
_Share = tuple[int, Sequence[Column]]
"""The id of a column descriptor, and its columns."""
_V, _P = PARTITION_KEY_VALS.c, PARTITION_PARAMS.c
_PARTS = (
    PartQuery(_VALUE, OWNERS, _V.PART_ID, _V.INTEGER_IDX, (_V.PART_KEY_VAL,)),
    PartQuery(_PARAMETER, OWNERS, _P.PART_ID, None, (_P.PARAM_KEY, _P.PARAM_VALUE)),
)


def names(connection: Connection, table_id: int, limit: int | None = None) -> list[str]:
    """The names of a table's partitions, sorted, at most `limit`."""
    name, here = PARTITIONS.c.PART_NAME, PARTITIONS.c.TBL_ID == table_id
    if limit is None and connection.dialect.name == "postgresql":  # many rows cost it more than one, and so does order
        found: Any = connection.execute(select(func.json_agg(name, type_=JSON())).where(here)).scalar_one()
        return sorted(found or ())
    query = select(name).where(here).order_by(by_bytes(connection, name)).limit(limit)
    return list(connection.execute(query).scalars())


def count(connection: Connection, table_id: int) -> int:
    """The number of a table's partitions."""
    query = select(func.count()).select_from(PARTITIONS).where(PARTITIONS.c.TBL_ID == table_id)
    return connection.execute(query).scalar_one()


def find_ids(connection: Connection, table_id: int, wanted: Sequence[str]) -> dict[str, int]:
    """The ids by name; missing partitions are skipped."""
    return _ids(connection, _id_query(connection, table_id, wanted))


def ids_by_name(connection: Connection, table_id: int) -> dict[str, int]:
    """The ids of all partitions by name."""
    query = select(PARTITIONS.c.PART_NAME, PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id)
    return dict(connection.execute(query).cursor.fetchall())


def names_by_id(connection: Connection, table_id: int, partition_ids: Sequence[int]) -> dict[int, str]:
    """The names of a table's partitions by id; ids of others, and of none, are skipped."""
    query = select(PARTITIONS.c.PART_ID, PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == table_id)
    return dict(connection.execute(query.where(one_of(connection, PARTITIONS.c.PART_ID, partition_ids))).all())


def locations(connection: Connection, table_id: int, wanted: Sequence[str] | None) -> dict[int, str | None]:
    """The locations by id, of the named partitions (None: of all); missing ones are skipped."""
    query = select(PARTITIONS.c.PART_ID, SDS.c.LOCATION).outerjoin(SDS, SDS.c.SD_ID == PARTITIONS.c.SD_ID)
    query = query.where(PARTITIONS.c.TBL_ID == table_id)
    if wanted is not None:
        query = query.where(one_of(connection, PARTITIONS.c.PART_NAME, wanted))
    return dict(connection.execute(query).all())


def with_accurate_mark(connection: Connection, table_id: int) -> dict[int, str | None]:
    """The locations by id, of the partitions that have COLUMN_STATS_ACCURATE."""
    p = PARTITION_PARAMS.c
    query = (
        select(PARTITIONS.c.PART_ID, SDS.c.LOCATION)
        .join(PARTITION_PARAMS, p.PART_ID == PARTITIONS.c.PART_ID)
        .outerjoin(SDS, SDS.c.SD_ID == PARTITIONS.c.SD_ID)
        .where(PARTITIONS.c.TBL_ID == table_id, p.PARAM_KEY == accurate.PARAMETER)
    )
    return dict(connection.execute(query).all())


def lock(unit: Unit, table_id: int, wanted: Sequence[str]) -> dict[str, int]:
    """The ids by name, with the rows locked in id order until the unit ends; missing partitions are skipped."""
    query = _id_query(unit.connection, table_id, wanted).order_by(PARTITIONS.c.PART_ID)
    return _ids(unit.connection, query.with_for_update())


def parameter(connection: Connection, table_id: int, wanted: Sequence[str], key: str) -> dict[str, str]:
    """One parameter of the named partitions that have it, by partition name."""
    p = PARTITION_PARAMS.c
    query = (
        select(PARTITIONS.c.PART_NAME, p.PARAM_VALUE)
        .join(PARTITION_PARAMS, p.PART_ID == PARTITIONS.c.PART_ID)
        .where(PARTITIONS.c.TBL_ID == table_id, one_of(connection, PARTITIONS.c.PART_NAME, wanted), p.PARAM_KEY == key)
    )
    return dict(connection.execute(query).all())


def get_many(connection: Connection, table_id: int, wanted: Sequence[str]) -> PartitionsByName:
    """The named partitions by name, in name order; missing ones are skipped."""
    condition = one_of(connection, PARTITIONS.c.PART_NAME, wanted)
    return _read(connection, _QUERY.where(PARTITIONS.c.TBL_ID == table_id, condition))


def get_with_location(connection: Connection, table_id: int, wanted: Sequence[str]) -> dict[str, Partition]:
    """The named partitions with values and locations alone, by name, in name order; missing ones are skipped."""
    query = select(PARTITIONS.c.PART_ID, PARTITIONS.c.PART_NAME, SDS.c.SD_ID, SDS.c.LOCATION)
    query = query.outerjoin_from(PARTITIONS, SDS, SDS.c.SD_ID == PARTITIONS.c.SD_ID)
    here = PARTITIONS.c.TBL_ID == table_id, one_of(connection, PARTITIONS.c.PART_NAME, wanted)
    rows = connection.execute(query.where(*here).order_by(by_bytes(connection, PARTITIONS.c.PART_NAME))).all()
    v = PARTITION_KEY_VALS.c
    of_them = one_of(connection, v.PART_ID, [row.PART_ID for row in rows])
    values: dict[int, tuple[str, ...]] = {}
    for each, value in connection.execute(select(v.PART_ID, v.PART_KEY_VAL).where(of_them).order_by(v.INTEGER_IDX)):
        values[each] = (*values.get(each, ()), value)
    return {
        name: Partition(
            values=values.get(each, ()), id=each, storage=None if storage_id is None else Storage(location=location)
        )
        for each, name, storage_id, location in rows
    }


def get_all(connection: Connection, table_id: int, limit: int | None = None) -> PartitionsByName:
    """Every partition by name, in name order, at most `limit`."""
    return _read(connection, _QUERY.where(PARTITIONS.c.TBL_ID == table_id), limit)


def matching(
    connection: Connection, table_id: int, values: Sequence[str | None], limit: int | None = None
) -> PartitionsByName:
    """The partitions whose first values are these, None matching any; by name, in name order, at most `limit`."""
    return _read(connection, _with_values(_QUERY, table_id, values), limit)


def matching_names(
    connection: Connection, table_id: int, values: Sequence[str | None], limit: int | None = None
) -> list[str]:
    """The names of the partitions whose first values are these, None matching any; sorted, at most `limit`."""
    query = _with_values(select(PARTITIONS.c.PART_NAME), table_id, values).order_by(
        by_bytes(connection, PARTITIONS.c.PART_NAME)
    )
    return list(connection.execute(query.limit(limit)).scalars())


def filtered(
    connection: Connection, table_id: int, keys: Sequence[Column], wanted: PartitionFilter, limit: int | None = None
) -> PartitionsByName:
    """The partitions that a filter selects, by name, in name order, at most `limit`. Raises MetaError."""
    query = _QUERY.where(PARTITIONS.c.TBL_ID == table_id)
    return _read(connection, restrict(connection, query, wanted, keys), limit)


def filtered_names(
    connection: Connection, table_id: int, keys: Sequence[Column], wanted: PartitionFilter, limit: int | None = None
) -> list[str]:
    """The names of the partitions that a filter selects, sorted, at most `limit`. Raises MetaError."""
    query = select(PARTITIONS.c.PART_NAME).where(PARTITIONS.c.TBL_ID == table_id)
    query = restrict(connection, query, wanted, keys)
    if limit is not None:
        query = query.order_by(by_bytes(connection, PARTITIONS.c.PART_NAME)).limit(limit)
    return sorted(connection.execute(query).scalars())


def count_filtered(connection: Connection, table_id: int, keys: Sequence[Column], wanted: PartitionFilter) -> int:
    """The number of partitions that a filter selects. Raises MetaError if it has unlike types."""
    query = select(func.count()).select_from(PARTITIONS).where(PARTITIONS.c.TBL_ID == table_id)
    count: int = connection.execute(restrict(connection, query, wanted, keys)).scalar_one()
    return count


def insert_many(unit: Unit, table_id: int, columns: Sequence[Column], new: Mapping[str, Partition]) -> None:
    """Insert partitions, given by name; those with the table's columns share its column descriptor."""
    if not new:
        return
    share = _shared_columns(unit.connection, table_id, columns)
    names = list(new)
    for start in range(0, len(names), queued.ROWS_AT_ONCE):
        _insert(unit, table_id, share, {each: new[each] for each in names[start : start + queued.ROWS_AT_ONCE]})


def _insert(unit: Unit, table_id: int, share: _Share | None, new: Mapping[str, Partition]) -> None:
    partition_ids = unit.ids(ids.Sequence.PARTITION, len(new))
    by_id = dict(zip(partition_ids, new.values(), strict=True))
    storages = _add_storages(unit, share, by_id)
    rows: dict[str, Sequence[Any]] = {
        "PART_ID": partition_ids,
        "PART_NAME": list(new),
        "TBL_ID": [table_id] * len(new),
        "SD_ID": [storages.get(each) for each in partition_ids],
        "CREATE_TIME": [partition.created_seconds for partition in new.values()],
        "LAST_ACCESS_TIME": [partition.last_access_seconds for partition in new.values()],
        "WRITE_ID": [partition.write_id for partition in new.values()],
    }
    queued.insert(unit, PARTITIONS, rows)
    _add_values(unit, {each: partition.values for each, partition in by_id.items()})
    parameters.add(unit, OF_PARTITIONS, {each: partition.parameters for each, partition in by_id.items()})


def replace_many(
    unit: Unit,
    table_id: int,
    columns: Sequence[Column],
    stored: Mapping[int, Partition],
    changed: Mapping[int, Partition],
) -> None:
    """Replace partitions that the unit has read, given by id, except names, values and statistics. Writes what differs.

    Those with the table's columns share its column descriptor.
    """
    stated = [each for each, new in changed.items() if new.created_seconds != stored[each].created_seconds]
    before_writes.of_created(unit, stated)
    moved = {each: new for each, new in changed.items() if not descriptors.are_same(stored[each].storage, new.storage)}
    if moved:
        _replace_storages(unit, _shared_columns(unit.connection, table_id, columns), moved)
    _update(unit, [{"id": each, **_row(new)} for each, new in changed.items() if _row(new) != _row(stored[each])])
    texts = {each: new.parameters for each, new in changed.items() if new.parameters != stored[each].parameters}
    if texts:
        parameters.replace(unit, OF_PARTITIONS, texts)


def _replace_storages(unit: Unit, share: _Share | None, moved: Mapping[int, Partition]) -> None:
    here = one_of(unit.connection, PARTITIONS.c.PART_ID, sorted(moved))
    old = unit.connection.execute(select(PARTITIONS.c.SD_ID).where(here, PARTITIONS.c.SD_ID.is_not(None))).scalars()
    old_ids, new_ids = list(old), _add_storages(unit, share, moved)
    _update(unit, [{"id": each, "SD_ID": new_ids.get(each)} for each in moved])
    descriptors.remove_many(unit, old_ids)


def _update(unit: Unit, rows: Sequence[Mapping[str, Any]]) -> None:
    """Update partitions by id; all rows have the same columns."""
    if rows:
        statement = update(PARTITIONS).where(bindparam("id") == PARTITIONS.c.PART_ID)
        unit.connection.execute(statement, sorted(rows, key=itemgetter("id")))


def relocate(unit: Unit, table_id: int, old: str, new: str) -> None:
    """Replace the prefix `old` by `new` in the location of every partition that lies below `old`."""
    own = select(PARTITIONS.c.SD_ID).where(PARTITIONS.c.TBL_ID == table_id)
    drop_locations.relocate(unit, own, old, new)


def rename(unit: Unit, partition_id: int, name: str, values: Sequence[str]) -> None:
    """Change a partition's name and values; its statistics follow."""
    connection, v = unit.connection, PARTITION_KEY_VALS
    before_writes.of_names(unit, OwnerKind.PARTITIONS, [partition_id])
    connection.execute(update(PARTITIONS).where(PARTITIONS.c.PART_ID == partition_id).values(PART_NAME=name))
    connection.execute(delete(v).where(v.c.PART_ID == partition_id))
    _add_values(unit, {partition_id: values})
    column_statistics.rename_partition(unit, partition_id, name)


def remove_many(unit: Unit, partition_ids: Sequence[int]) -> None:
    """Remove partitions with their statistics and all other rows of theirs."""
    if not partition_ids:
        return
    here = one_of(unit.connection, PARTITIONS.c.PART_ID, partition_ids)
    query = select(PARTITIONS.c.SD_ID).where(here, PARTITIONS.c.SD_ID.is_not(None)).execution_options(**PREPARED)
    before_writes.of_dropped_partitions(unit, partition_ids)
    storages = descriptors.find_rows(unit.connection, list(unit.connection.execute(query).scalars()))
    remove_rows(unit, partition_ids)
    descriptors.remove_rows(unit, storages)


def remove_rows(unit: Unit, partition_ids: Sequence[int]) -> None:
    """Remove partitions, but not their storages."""
    for column in _PARTITION_ID_COLUMNS if partition_ids else ():
        queued.delete(unit, column, partition_ids)


def _id_query(connection: Connection, table_id: int, wanted: Sequence[str]) -> Any:
    condition = one_of(connection, PARTITIONS.c.PART_NAME, wanted)
    query = select(PARTITIONS.c.PART_NAME, PARTITIONS.c.PART_ID).where(PARTITIONS.c.TBL_ID == table_id, condition)
    return query.execution_options(**PREPARED)


def _ids(connection: Connection, query: Any) -> dict[str, int]:
    return dict(connection.execute(query).all())


def _with_values(query: Any, table_id: int, values: Sequence[str | None]) -> Any:
    query = query.where(PARTITIONS.c.TBL_ID == table_id)
    for index, value in enumerate(values):
        if value is not None:
            key = PARTITION_KEY_VALS.alias(f"key_{index}")
            same = (key.c.PART_ID == PARTITIONS.c.PART_ID) & (key.c.INTEGER_IDX == index)
            query = query.where(select(1).where(same, key.c.PART_KEY_VAL == value).exists())
    return query


def _read(connection: Connection, query: Any, limit: int | None = None) -> PartitionsByName:
    """The partitions found by a query with _QUERY's columns, at most `limit`; a constant number of statements."""
    if limit is not None:
        query = query.order_by(by_bytes(connection, PARTITIONS.c.PART_NAME)).limit(limit)
    # Sorted here, as the database would, which takes longer: its rows are wide.
    rows = sorted(connection.execute(query).cursor.fetchall(), key=_NAME_IN)
    if not rows:
        return NO_PARTITIONS
    owners, names_found, storage_ids, created, accessed, write_ids, *_ = zip(*rows, strict=True)
    parts = read_parts(connection, storage_ids, rows, owners, _PARTS)
    values, parameters_found = parts.texts(_VALUE), parts.pairs(_PARAMETER)
    return PartitionsByName(
        PartitionsByColumn(
            names=names_found,
            ids=owners,
            values=[values.get(each, ()) for each in owners],
            created_seconds=created,
            last_access_seconds=accessed,
            write_ids=[each or 0 for each in write_ids],
            formats=Storages(parts, connection).formats(storage_ids, rows),
            locations=list(map(location_in, rows)),
            parameters=[parameters_found.get(each) or {} for each in owners],
        )
    )


def _shared_columns(connection: Connection, table_id: int, columns: Sequence[Column]) -> _Share | None:
    """The table's column descriptor and columns, which partitions may share; None if it has no descriptor."""
    query = select(SDS.c.CD_ID).join(TBLS, TBLS.c.SD_ID == SDS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)
    descriptor = connection.execute(query.execution_options(**PREPARED)).scalar_one_or_none()
    return None if descriptor is None else (descriptor, columns)


def _add_storages(unit: Unit, share: _Share | None, partitions: Mapping[int, Partition]) -> dict[int, int]:
    """Insert the storages of the partitions that have one. Returns storage ids by partition id."""
    storages = {each: partition.storage for each, partition in partitions.items() if partition.storage}
    return dict(zip(storages, descriptors.insert_many(unit, list(storages.values()), share), strict=True))


def _add_values(unit: Unit, values: Mapping[int, Sequence[str]]) -> None:
    each = [(owner, index, value) for owner, listed in values.items() for index, value in enumerate(listed)]
    columns: dict[str, Sequence[Any]] = {
        "PART_ID": [owner for owner, _, _ in each],
        "PART_KEY_VAL": [value for _, _, value in each],
        "INTEGER_IDX": [index for _, index, _ in each],
    }
    queued.insert(unit, PARTITION_KEY_VALS, columns)


def _row(partition: Partition) -> dict[str, Any]:
    return {
        "CREATE_TIME": partition.created_seconds,
        "LAST_ACCESS_TIME": partition.last_access_seconds,
        "WRITE_ID": partition.write_id,
    }

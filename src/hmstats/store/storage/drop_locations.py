"""Locations of tables and partitions to drop, and other objects at these locations."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
    update,
)

from hmstats.model.catalog.location import Location, parse
from hmstats.model.catalog.objects import EXTERNAL_PURGE
from hmstats.store.schema import DBS, PARTITIONS, SDS, TABLE_PARAMS, TBLS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.unit.unit import Unit

_LOCATIONS_AT_ONCE = 50
"""Most locations of one statement; each adds several conditions."""
_Condition: TypeAlias = Callable[[str, ColumnElement[Any], Sequence[Location]], ColumnElement[bool]]
"""Builds a condition from a dialect's name, a column of locations and some locations."""
_OF_TABLE = SDS.alias("of_table")
_OF_PARTITION = SDS.alias("of_partition")
_TABLES = TBLS.join(_OF_TABLE, _OF_TABLE.c.SD_ID == TBLS.c.SD_ID)
_PARTITIONS = _TABLES.join(PARTITIONS, PARTITIONS.c.TBL_ID == TBLS.c.TBL_ID).join(
    _OF_PARTITION, _OF_PARTITION.c.SD_ID == PARTITIONS.c.SD_ID
)


def dropped_with_files(connection: Connection, table_ids: Sequence[int], table_types: Collection[str]) -> set[int]:
    """The tables among these whose files go with a drop: those of one of the types, and external ones that say so."""
    p, own = TABLE_PARAMS.c, TBLS.c.TBL_TYPE.in_(table_types)
    says_so = exists().where(
        p.TBL_ID == TBLS.c.TBL_ID, p.PARAM_KEY == EXTERNAL_PURGE, func.lower(p.PARAM_VALUE) == "true"
    )
    query = select(TBLS.c.TBL_ID).where(one_of(connection, TBLS.c.TBL_ID, table_ids), or_(own, says_so))
    return set(connection.execute(query).scalars())


def of_tables(connection: Connection, table_ids: Sequence[int]) -> list[str]:
    """The locations of tables, and of their partitions outside of them."""
    here = one_of(connection, TBLS.c.TBL_ID, table_ids)
    table, partition = _OF_TABLE.c.LOCATION, _OF_PARTITION.c.LOCATION
    outside = func.substr(partition, 1, func.length(table) + 1) != table + "/"
    query = union_all(
        select(table).select_from(_TABLES).where(here, table.is_not(None)),
        select(partition).select_from(_PARTITIONS).where(here, outside),
    )
    return list(connection.execute(query).scalars())


def holds_any(connection: Connection, root: str, table_ids: Sequence[int]) -> bool:
    """Whether one of these tables, or a partition of one, lies below the root."""
    below = or_(_is_below(_OF_TABLE.c.LOCATION, root), _is_below(_OF_PARTITION.c.LOCATION, root))
    joined = _TABLES.outerjoin(PARTITIONS, PARTITIONS.c.TBL_ID == TBLS.c.TBL_ID).outerjoin(
        _OF_PARTITION, _OF_PARTITION.c.SD_ID == PARTITIONS.c.SD_ID
    )
    query = (
        select(TBLS.c.TBL_ID).select_from(joined).where(one_of(connection, TBLS.c.TBL_ID, table_ids), below).limit(1)
    )
    return connection.execute(query).first() is not None


def used_by_others(connection: Connection, locations: Sequence[str], but: int | None = None) -> set[str]:
    """The locations that must not be removed, emptied or moved, since another object uses them.

    Such a location equals or contains that of a database, a table or a partition, or lies in that of a table or
    partition; the table `but` and its partitions are ignored. All spellings of a location are equal.
    """
    return _find_meeting(connection, locations, but, _is_near)


def holding_any(connection: Connection, locations: Sequence[str]) -> set[str]:
    """The locations that equal or contain the location of a table or a partition."""
    return _find_meeting(connection, locations, None, _is_at_or_inside)


def _find_meeting(connection: Connection, locations: Sequence[str], but: int | None, condition: _Condition) -> set[str]:
    locations_found: set[str] = set()
    for start in range(0, len(locations), _LOCATIONS_AT_ONCE):
        locations_found |= _binary_search(connection, locations[start : start + _LOCATIONS_AT_ONCE], but, condition)
    return locations_found


def _binary_search(
    connection: Connection, locations: Sequence[str], but: int | None, condition: _Condition
) -> set[str]:
    """The locations that meet the condition: one statement if none does, as almost always; else a binary search."""
    if not locations or not _any_meets(connection, [parse(each) for each in locations], but, condition):
        return set()
    if len(locations) == 1:
        return set(locations)
    half = len(locations) // 2
    return _binary_search(connection, locations[:half], but, condition) | _binary_search(
        connection, locations[half:], but, condition
    )


def _any_meets(connection: Connection, directories: Sequence[Location], but: int | None, condition: _Condition) -> bool:
    dialect = connection.dialect.name
    near = select(SDS.c.SD_ID).where(condition(dialect, SDS.c.LOCATION, directories)).cte("near")
    near = near.prefix_with("MATERIALIZED", dialect="postgresql")
    owners = near.outerjoin(TBLS, TBLS.c.SD_ID == near.c.SD_ID).outerjoin(
        PARTITIONS, PARTITIONS.c.SD_ID == near.c.SD_ID
    )
    owner = func.coalesce(TBLS.c.TBL_ID, PARTITIONS.c.TBL_ID)
    of_databases = _is_inside(dialect, DBS.c.DB_LOCATION_URI, directories)
    if condition is _is_near:
        of_databases = or_(of_databases, _is_one_of(DBS.c.DB_LOCATION_URI, directories))
    query = union_all(
        select(owner).select_from(owners).where(owner.is_not(None), owner != (-1 if but is None else but)),
        select(DBS.c.DB_ID).where(of_databases),
    ).limit(1)
    return connection.execute(query).first() is not None


def _is_near(dialect: str, column: ColumnElement[Any], directories: Sequence[Location]) -> ColumnElement[bool]:
    """The condition that a location equals, contains, or lies in one of the places."""
    above = {parent for each in directories for parent in each.parents()}
    return or_(_is_one_of(column, {*directories, *above}), _is_inside(dialect, column, directories))


def _is_at_or_inside(dialect: str, column: ColumnElement[Any], directories: Sequence[Location]) -> ColumnElement[bool]:
    """The condition that a location equals, or lies in, one of the places."""
    return or_(_is_one_of(column, directories), _is_inside(dialect, column, directories))


def _is_inside(dialect: str, column: ColumnElement[Any], directories: Sequence[Location]) -> ColumnElement[bool]:
    """The condition that a location lies in one of the places."""
    return or_(*(_lies_in(dialect, column, each) for each in directories))


def _is_one_of(column: ColumnElement[Any], directories: Collection[Location]) -> ColumnElement[bool]:
    return column.in_([text for each in directories for text in each.spellings()])


def _lies_in(dialect: str, column: ColumnElement[Any], directory: Location) -> ColumnElement[bool]:
    """The condition that a location lies in a directory, in a form that an index of the column supports."""
    starts = [text.rstrip("/") + "/" for text in directory.spellings()]
    if dialect == "postgresql":
        return or_(*(column.op("^@")(each) for each in starts))
    # The upper end of the texts with this prefix: the character after the slash is 0.
    return or_(*(and_(column >= each, column < each[:-1] + "0") for each in starts))


def relocate(unit: Unit, storages: Select[Any], old: str, new: str) -> None:
    """Replace the prefix `old`, in any spelling, by `new` in the locations of the storages that lie below it."""
    location = SDS.c.LOCATION
    starts = [text.rstrip("/") + "/" for text in {old, *parse(old).spellings()}]
    below = [(func.substr(location, 1, len(each)) == each, each) for each in starts]
    moved = case(*((is_below, literal(new + "/") + func.substr(location, len(each) + 1)) for is_below, each in below))
    here = SDS.c.SD_ID.in_(storages), or_(*(is_below for is_below, _ in below))
    unit.connection.execute(update(SDS).where(*here).values(LOCATION=moved))


def _is_below(location: ColumnElement[Any], root: str) -> ColumnElement[bool]:
    starts = [each.rstrip("/") + "/" for each in {root, *parse(root).spellings()}]
    return or_(*(func.substr(location, 1, len(each)) == each for each in starts))

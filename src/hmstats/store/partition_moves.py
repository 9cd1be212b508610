"""Partitions that become another table's, with all that hangs on them."""

from collections.abc import Sequence

from sqlalchemy import delete, func, literal, select, update

from hmstats.model.catalog import TableName
from hmstats.store.schema import HMSTATS_COLUMN_PROVENANCE, HMSTATS_TOP_K, PART_COL_STATS, PARTITIONS, SDS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit


def hand_over(unit: Unit, partition_ids: Sequence[int], table_id: int, name: TableName) -> None:
    """Give partitions to the table of this id and name; statistics and what is kept beside them come along."""
    connection, p = unit.connection, HMSTATS_COLUMN_PROVENANCE
    # One that came from there through a server of the version before has left its provenance.
    left = p.c.TBL_ID == table_id, one_of(connection, p.c.PART_ID, partition_ids)
    connection.execute(delete(p).where(*left))
    names = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    changes = (
        (PARTITIONS, {"TBL_ID": table_id}),
        (PART_COL_STATS, names),
        (p, {"TBL_ID": table_id}),
        (HMSTATS_TOP_K, {"TBL_ID": table_id}),
    )
    for table, values in changes:
        here = one_of(connection, table.c.PART_ID, partition_ids)
        connection.execute(update(table).where(here).values(values))


def relocate(unit: Unit, partition_ids: Sequence[int], old: str, new: str) -> None:
    """Write the places of partitions, all of which lie below `old`, as below `new`."""
    own = select(PARTITIONS.c.SD_ID).where(one_of(unit.connection, PARTITIONS.c.PART_ID, partition_ids))
    moved = literal(new) + func.substr(SDS.c.LOCATION, len(old) + 1)
    unit.connection.execute(update(SDS).where(SDS.c.SD_ID.in_(own)).values(LOCATION=moved))

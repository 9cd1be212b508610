"""Moves partitions to another table, with all their rows."""

from collections.abc import Sequence

from sqlalchemy import delete, select, update

from hmstats.model.catalog.objects import TableName
from hmstats.store.history import before_writes
from hmstats.store.schema import (
    HMSTATS_COLUMN_PROVENANCE,
    HMSTATS_PENDING,
    HMSTATS_PENDING_COLUMN,
    HMSTATS_PREFERENCE,
    HMSTATS_STATISTICS_LOCK,
    HMSTATS_TOP_K,
    PART_COL_STATS,
    PARTITIONS,
)
from hmstats.store.statements.value_sets import one_of
from hmstats.store.storage import drop_locations
from hmstats.store.unit.unit import Unit


def move(unit: Unit, partition_ids: Sequence[int], table_id: int, name: TableName) -> None:
    """Move partitions to the table with this id and name, with their statistics and details."""
    before_writes.of_dropped_partitions(unit, partition_ids)
    connection, p = unit.connection, HMSTATS_COLUMN_PROVENANCE
    # If a partition left this table through a server of the version before, its old provenance is still there.
    stale_provenance = p.c.TBL_ID == table_id, one_of(connection, p.c.PART_ID, partition_ids)
    connection.execute(delete(p).where(*stale_provenance))
    names = {"CAT_NAME": name.catalog, "DB_NAME": name.database, "TABLE_NAME": name.table}
    changes = (
        (PARTITIONS, {"TBL_ID": table_id}),
        (PART_COL_STATS, names),
        (p, {"TBL_ID": table_id}),
        (HMSTATS_TOP_K, {"TBL_ID": table_id}),
        (HMSTATS_PENDING, {"TBL_ID": table_id}),
        (HMSTATS_PENDING_COLUMN, {"TBL_ID": table_id}),
        (HMSTATS_PREFERENCE, {"TBL_ID": table_id}),
        (HMSTATS_STATISTICS_LOCK, {"TBL_ID": table_id}),
    )
    for table, values in changes:
        here = one_of(connection, table.c.PART_ID, partition_ids)
        connection.execute(update(table).where(here).values(values))
    before_writes.of_arrived_partitions(unit, partition_ids)


def relocate(unit: Unit, partition_ids: Sequence[int], old: str, new: str) -> None:
    """Replace the prefix `old` of the partitions' locations by `new`; all of them lie below `old`."""
    own = select(PARTITIONS.c.SD_ID).where(one_of(unit.connection, PARTITIONS.c.PART_ID, partition_ids))
    drop_locations.relocate(unit, own, old, new)

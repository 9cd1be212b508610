"""The write ids that the statistics of transactional tables and partitions are of: TBLS.WRITE_ID, PARTITIONS.WRITE_ID.

One number stands for all columns and for the row counts. Below 1 there is none.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, select, update

from hmstats.store.parameters import OF_TABLES, ParameterTable
from hmstats.store.schema import PARTITIONS, TBLS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit


def read(connection: Connection, of: ParameterTable, owners: Sequence[int]) -> dict[int, int]:
    """Write id by table or partition."""
    table = _table(of)
    owner = table.c[of.owner.name]
    query = select(owner, table.c.WRITE_ID).where(one_of(connection, owner, owners))
    return {each: write_id or 0 for each, write_id in connection.execute(query)}


def put(unit: Unit, of: ParameterTable, owners: Sequence[int], write_id: int) -> None:
    """Say of tables or partitions that their statistics are of this write id."""
    table = _table(of)
    here = one_of(unit.connection, table.c[of.owner.name], owners)
    unit.connection.execute(update(table).where(here).values(WRITE_ID=write_id))


def _table(of: ParameterTable) -> Table:
    return TBLS if of is OF_TABLES else PARTITIONS

"""Write ids of transactional tables' and partitions' statistics: TBLS.WRITE_ID, PARTITIONS.WRITE_ID.

One write id applies to all columns and to the row counts. A value below 1 means none.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, select, update

from hmstats.store.schema import PARTITIONS, TBLS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.storage.parameters import OF_TABLES, ParameterTable
from hmstats.store.unit.unit import Unit


def read(connection: Connection, of: ParameterTable, owners: Sequence[int]) -> dict[int, int]:
    """The write ids by table or partition id; 0 if there is none."""
    table = _table(of)
    owner = table.c[of.owner.name]
    query = select(owner, table.c.WRITE_ID).where(one_of(connection, owner, owners))
    return {each: write_id or 0 for each, write_id in connection.execute(query)}


def put(unit: Unit, of: ParameterTable, owners: Sequence[int], write_id: int) -> None:
    """Set the write id of the statistics of tables or partitions."""
    table = _table(of)
    here = one_of(unit.connection, table.c[of.owner.name], owners)
    unit.connection.execute(update(table).where(here).values(WRITE_ID=write_id))


def _table(of: ParameterTable) -> Table:
    return TBLS if of is OF_TABLES else PARTITIONS

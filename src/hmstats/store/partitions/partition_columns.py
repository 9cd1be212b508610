"""The columns of a table's partitions: column lists, which partitions share with each other and the table."""

from sqlalchemy import Connection, select, update

from hmstats.model.catalog.objects import Column
from hmstats.store.schema import COLUMNS_V2, PARTITIONS, SDS, TBLS
from hmstats.store.statements.value_sets import one_of
from hmstats.store.storage import descriptors
from hmstats.store.unit.unit import Unit


def lists(connection: Connection, table_id: int) -> dict[int, list[Column]]:
    """The column lists of a table's partitions, by column descriptor id."""
    used = (
        select(SDS.c.CD_ID).join(PARTITIONS, PARTITIONS.c.SD_ID == SDS.c.SD_ID).where(PARTITIONS.c.TBL_ID == table_id)
    )
    ids = list(connection.execute(used.where(SDS.c.CD_ID.is_not(None)).distinct()).scalars())
    c = COLUMNS_V2.c
    query = select(c.CD_ID, c.COLUMN_NAME, c.TYPE_NAME, c.COMMENT).where(one_of(connection, c.CD_ID, ids))
    columns: dict[int, list[Column]] = {each: [] for each in ids}
    for each, name, kind, comment in connection.execute(query.order_by(c.INTEGER_IDX)):
        columns[each].append(Column(name, kind, comment))
    return columns


def partitions_with(connection: Connection, table_id: int, list_id: int) -> list[int]:
    """The ids of the table's partitions with this column list."""
    query = select(PARTITIONS.c.PART_ID).join(SDS, PARTITIONS.c.SD_ID == SDS.c.SD_ID)
    return list(connection.execute(query.where(PARTITIONS.c.TBL_ID == table_id, SDS.c.CD_ID == list_id)).scalars())


def share_of_table(unit: Unit, table_id: int) -> None:
    """Let every partition share the column list of its table."""
    connection = unit.connection
    own = select(SDS.c.CD_ID).join(TBLS, TBLS.c.SD_ID == SDS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)
    list_id = connection.execute(own).scalar_one()
    others = [each for each in lists(connection, table_id) if each != list_id]
    if others:
        mine = select(PARTITIONS.c.SD_ID).where(PARTITIONS.c.TBL_ID == table_id)
        connection.execute(update(SDS).where(SDS.c.SD_ID.in_(mine)).values(CD_ID=list_id))
        descriptors.remove_columns(unit, others)

"""The columns of a table's partitions: lists of columns that many of them share, as they share them with the table."""

from sqlalchemy import Connection, select, update

from hmstats.model.catalog import Column
from hmstats.store import storage
from hmstats.store.schema import COLUMNS_V2, PARTITIONS, SDS, TBLS
from hmstats.store.sets import one_of
from hmstats.store.unit import Unit


def lists(connection: Connection, table_id: int) -> dict[int, list[Column]]:
    """By id each list of columns that any partition of the table has."""
    used = (
        select(SDS.c.CD_ID).join(PARTITIONS, PARTITIONS.c.SD_ID == SDS.c.SD_ID).where(PARTITIONS.c.TBL_ID == table_id)
    )
    ids = list(connection.execute(used.where(SDS.c.CD_ID.is_not(None)).distinct()).scalars())
    c = COLUMNS_V2.c
    query = select(c.CD_ID, c.COLUMN_NAME, c.TYPE_NAME, c.COMMENT).where(one_of(connection, c.CD_ID, ids))
    found: dict[int, list[Column]] = {each: [] for each in ids}
    for each, name, kind, comment in connection.execute(query.order_by(c.INTEGER_IDX)):
        found[each].append(Column(name, kind, comment))
    return found


def having(connection: Connection, table_id: int, list_id: int) -> list[int]:
    """The ids of the table's partitions that have this list of columns."""
    query = select(PARTITIONS.c.PART_ID).join(SDS, PARTITIONS.c.SD_ID == SDS.c.SD_ID)
    return list(connection.execute(query.where(PARTITIONS.c.TBL_ID == table_id, SDS.c.CD_ID == list_id)).scalars())


def share(unit: Unit, table_id: int) -> None:
    """Give every partition the columns of its table."""
    connection = unit.connection
    own = select(SDS.c.CD_ID).join(TBLS, TBLS.c.SD_ID == SDS.c.SD_ID).where(TBLS.c.TBL_ID == table_id)
    list_id = connection.execute(own).scalar_one()
    others = [each for each in lists(connection, table_id) if each != list_id]
    if others:
        mine = select(PARTITIONS.c.SD_ID).where(PARTITIONS.c.TBL_ID == table_id)
        connection.execute(update(SDS).where(SDS.c.SD_ID.in_(mine)).values(CD_ID=list_id))
        storage.remove_unused_columns(unit, others)

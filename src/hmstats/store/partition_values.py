"""The values of partition keys, without the partitions."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from hmstats.model.catalog import Column
from hmstats.model.partition_filter import PartitionFilter
from hmstats.store.ordering import by_bytes
from hmstats.store.partition_filters import restrict
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITIONS


@dataclass(frozen=True, slots=True)
class Wanted:
    """Of which partitions (None: all) values are wanted, whether each once, in which order, and how many rows."""

    filter: PartitionFilter | None
    distinct: bool
    ascending: bool
    limit: int | None


def read(
    connection: Connection, table_id: int, keys: Sequence[Column], indexes: Sequence[int], wanted: Wanted
) -> list[tuple[str, ...]]:
    """Rows of the values of the keys at these indexes, sorted. Raises MetaError for a filter of unlike types."""
    aliases = [PARTITION_KEY_VALS.alias(f"value_{index}") for index in indexes]
    texts = [by_bytes(connection, each.c.PART_KEY_VAL) for each in aliases]
    query = select(*texts).select_from(PARTITIONS).where(PARTITIONS.c.TBL_ID == table_id)
    for index, alias in zip(indexes, aliases, strict=True):
        query = query.join(alias, (alias.c.PART_ID == PARTITIONS.c.PART_ID) & (alias.c.INTEGER_IDX == index))
    if wanted.filter is not None:
        query = restrict(query, wanted.filter, keys, connection.dialect.name)
    if wanted.distinct:
        query = query.distinct()
    query = query.order_by(*(text if wanted.ascending else text.desc() for text in texts)).limit(wanted.limit)
    return [tuple(row) for row in connection.execute(query)]

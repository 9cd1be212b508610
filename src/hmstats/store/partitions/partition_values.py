"""Values of partition keys, without the partitions."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from hmstats.model.catalog.objects import Column
from hmstats.model.partitions.partition_filter import PartitionFilter
from hmstats.store.partitions.partition_filters import restrict
from hmstats.store.schema import PARTITION_KEY_VALS, PARTITIONS
from hmstats.store.statements.ordering import by_bytes


@dataclass(frozen=True, slots=True)
class ValuesRequest:
    """A request for values: a filter of partitions (None: all), without duplicates if `distinct`, order and limit."""

    filter: PartitionFilter | None
    distinct: bool
    ascending: bool
    limit: int | None


def read(
    connection: Connection, table_id: int, keys: Sequence[Column], indexes: Sequence[int], request: ValuesRequest
) -> list[tuple[str, ...]]:
    """The values of the keys at these indexes, row by row, sorted. Raises MetaError if the filter has unlike types."""
    aliases = [PARTITION_KEY_VALS.alias(f"value_{index}") for index in indexes]
    texts = [by_bytes(connection, each.c.PART_KEY_VAL) for each in aliases]
    query = select(*texts).select_from(PARTITIONS).where(PARTITIONS.c.TBL_ID == table_id)
    for index, alias in zip(indexes, aliases, strict=True):
        query = query.join(alias, (alias.c.PART_ID == PARTITIONS.c.PART_ID) & (alias.c.INTEGER_IDX == index))
    if request.filter is not None:
        query = restrict(connection, query, request.filter, keys)
    if request.distinct:
        query = query.distinct()
    query = query.order_by(*(text if request.ascending else text.desc() for text in texts)).limit(request.limit)
    return [tuple(row) for row in connection.execute(query)]

"""What is to be analysed, as a caller says it: a table, columns, partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmstats.client.naming import named_table
from hmstats.errors import StatementError
from hmstats.model.catalog import DEFAULT_DATABASE, TableName

PartitionSpec = Mapping[str, str | None]
"""Partition key to value; a key without a value means every value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A request. `columns` None means every column, `partitions` None every partition and the table itself."""

    table: TableName
    columns: tuple[str, ...] | None = None
    partitions: PartitionSpec | None = None


def statement(
    table: str,
    *,
    columns: Sequence[str] | None = None,
    partitions: PartitionSpec | None = None,
    database: str = DEFAULT_DATABASE,
) -> Statement:
    """The request for `[db.]table`; `database` is what a bare name means. Raises StatementError for a malformed one."""
    named = None if columns is None else tuple(dict.fromkeys(each.strip().lower() for each in columns))
    if named is not None and not all(named):
        raise StatementError(f"every column must have a name, found {list(columns or ())}")
    spec = None if partitions is None else {key.lower(): value for key, value in partitions.items()}
    return Statement(named_table(table, database), named, spec)

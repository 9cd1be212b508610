"""The errors that statistics calls give for what is not there."""

from collections.abc import Sequence

from hmstats.errors import MissingStatistics, NoSuchObject
from hmstats.model.catalog import TableName
from hmstats.model.names import partition_values
from hmstats.store.targets import Target


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a table that is not there, in the metastore's words."""
    return NoSuchObject(f"Specified catalog.database.table does not exist : {name}")


def missing_statistics(
    name: TableName, target: Target, column: str, what: str, partitions: Sequence[str]
) -> MissingStatistics:
    """The error for a question that needs `what` of a column, with the statement that would make it.

    `partitions` are the names of those that have none, at least one; of an unpartitioned table it is not looked at.
    """
    table = f"{name.database}.{name.table}"
    if not target.keys:
        statement = f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR COLUMNS {column}"
        return MissingStatistics(f"table {name} has no {what} of column {column}: {statement}")
    if len(partitions) == 1:
        values = zip(target.keys, partition_values(partitions[0], target.keys), strict=True)
        spec = ", ".join(f"{key}={_quoted(value)}" for key, value in values)
        some = f"partition {partitions[0]}"
    else:
        spec = ", ".join(target.keys)
        some = f"{len(partitions)} partitions, such as {partitions[0]},"
    statement = f"ANALYZE TABLE {table} PARTITION ({spec}) COMPUTE STATISTICS FOR COLUMNS {column}"
    have = "has" if len(partitions) == 1 else "have"
    return MissingStatistics(f"{some} of table {name} {have} no {what} of column {column}: {statement}")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

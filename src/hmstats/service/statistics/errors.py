"""The errors of statistics calls for missing tables and statistics."""

from collections.abc import Sequence

from hmstats.errors import MissingStatistics, NoSuchObject
from hmstats.model.catalog.names import partition_values
from hmstats.model.catalog.objects import TableName
from hmstats.store.statistics.table_facts import TableFacts


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a missing table, with the text of Hive's calls for statistics."""
    return NoSuchObject(f"Specified catalog.database.table does not exist : {name}")


def missing_statistics(
    name: TableName, target: TableFacts, column: str, what: str, partitions: Sequence[str]
) -> MissingStatistics:
    """The error for a question that lacks `what` of a column, with the ANALYZE statement that would compute it.

    `partitions` are the names of the partitions that lack it, at least one; ignored for an unpartitioned table.
    """
    table = name.short
    if not target.keys:
        statement = f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR COLUMNS {column}"
        return MissingStatistics(f"table {name} has no {what} of column {column}: {statement}")
    if len(partitions) == 1:
        values = zip(target.keys, partition_values(partitions[0], target.keys), strict=True)
        spec = ", ".join(f"{key}={_quote(value)}" for key, value in values)
        some = f"partition {partitions[0]}"
    else:
        spec = ", ".join(target.keys)
        some = f"{len(partitions)} partitions, such as {partitions[0]},"
    statement = f"ANALYZE TABLE {table} PARTITION ({spec}) COMPUTE STATISTICS FOR COLUMNS {column}"
    have = "has" if len(partitions) == 1 else "have"
    return MissingStatistics(f"{some} of table {name} {have} no {what} of column {column}: {statement}")


def _quote(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"

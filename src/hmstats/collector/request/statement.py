"""A request for an analysis: a statement's text, or a table with columns and partitions."""

from collections.abc import Sequence
from dataclasses import dataclass

from hmstats.client.naming import named_table, table_of
from hmstats.collector.request import analyze_sql
from hmstats.collector.request.partition_spec import PartitionSpec
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import DEFAULT_DATABASE, TableName


@dataclass(frozen=True, slots=True)
class Statement:
    """A request. `columns` None means every column, `partitions` None every partition and the table itself.

    `noscan`: only files are counted, and no data read.
    """

    table: TableName
    columns: tuple[str, ...] | None = None
    partitions: PartitionSpec | None = None
    noscan: bool = False


def statement(
    text: str,
    *,
    columns: Sequence[str] | None = None,
    partitions: PartitionSpec | None = None,
    noscan: bool = False,
    database: str = DEFAULT_DATABASE,
) -> Statement:
    """The request for `[catalog.][db.]table` with arguments, or for an ANALYZE statement without any.

    `database` is the default for a bare name. Raises StatementError for an invalid statement, and for arguments beside
    one.
    """
    if analyze_sql.is_statement(text):
        if columns is not None or partitions is not None or noscan:
            raise StatementError(
                "an ANALYZE statement takes no columns, partitions or noscan as arguments: write them in the statement"
            )
        return _of_text(text, database)
    if noscan and columns is not None:
        raise StatementError("noscan reads no data, so it takes no columns")
    named = None if columns is None else tuple(dict.fromkeys(each.strip().lower() for each in columns))
    if named is not None and not all(named):
        raise StatementError(f"every column must have a name, found {list(columns or ())}")
    spec = None if partitions is None else {key.lower(): value for key, value in partitions.items()}
    return Statement(named_table(text, database), () if noscan else named, spec, noscan)


def _of_text(text: str, database: str) -> Statement:
    found = analyze_sql.parse(text)
    columns = None if found.columns is None else tuple(dict.fromkeys(each.lower() for each in found.columns))
    return Statement(table_of(found.table, database), columns, found.partitions, found.noscan)

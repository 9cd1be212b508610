"""A request for an analysis: a statement's text, or a table with columns and partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmstats.client.naming import named_table, table_of
from hmstats.collector.request import analyze_sql
from hmstats.collector.request.partition_spec import Partitions, PartitionSpec, spec_of_name
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import DEFAULT_DATABASE, TableName


@dataclass(frozen=True, slots=True)
class Statement:
    """A request. `columns` None means every column.

    `partitions`: a partition that matches one of them is requested; None requests every partition and the table itself.
    `where`: only partitions that match this filter over the partition keys. `noscan`: only files are counted, and no
    data read. `without`: columns that preferences leave out.
    """

    table: TableName
    columns: tuple[str, ...] | None = None
    partitions: tuple[PartitionSpec, ...] | None = None
    noscan: bool = False
    where: str | None = None
    without: frozenset[str] = frozenset()


def statement(
    text: str,
    *,
    columns: Sequence[str] | None = None,
    partitions: Partitions | None = None,
    where: str | None = None,
    noscan: bool = False,
    database: str = DEFAULT_DATABASE,
) -> Statement:
    """The request for `[catalog.][db.]table` with arguments, or for an ANALYZE statement without any.

    `database` is the default for a bare name. Raises StatementError for an invalid statement, for arguments beside one,
    for both partitions and a filter, and for a text that is no partition's name.
    """
    if analyze_sql.is_statement(text):
        if columns is not None or partitions is not None or where is not None or noscan:
            raise StatementError(
                "an ANALYZE statement takes no columns, partitions, filter or noscan as arguments: write them in the "
                "statement"
            )
        return _of_text(text, database)
    if noscan and columns is not None:
        raise StatementError("noscan reads no data, so it takes no columns")
    named = None if columns is None else tuple(dict.fromkeys(each.strip().lower() for each in columns))
    if named is not None and not all(named):
        raise StatementError(f"every column must have a name, found {list(columns or ())}")
    if partitions is not None and where is not None:
        raise StatementError("partitions are chosen by their names or by a filter, found both")
    if partitions is not None and not isinstance(partitions, Mapping) and not partitions:
        raise StatementError("partitions must be the names of at least one, found none")
    specs = None if partitions is None else _specs(partitions)
    return Statement(named_table(text, database), () if noscan else named, specs, noscan, where)


def _specs(partitions: Partitions) -> tuple[PartitionSpec, ...]:
    if isinstance(partitions, Mapping):
        return ({key.lower(): value for key, value in partitions.items()},)
    return tuple(spec_of_name(name) for name in partitions)


def _of_text(text: str, database: str) -> Statement:
    found = analyze_sql.parse(text)
    columns = None if found.columns is None else tuple(dict.fromkeys(each.lower() for each in found.columns))
    return Statement(
        table_of(found.table, database),
        columns,
        None if found.partitions is None else (found.partitions,),
        found.noscan,
    )

"""The formats that are read by their own metadata, and how a table of each is opened."""

from collections.abc import Callable, Mapping

from hmstats.collector.lake.delta import open_delta
from hmstats.collector.lake.iceberg.reader import open_iceberg
from hmstats.collector.lake.opened import Hadoop, LakeTable, no_settings
from hmstats.collector.planning.plan import table_location
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Table
from hmstats.model.catalog.table_formats import table_format

_OPENED: Mapping[str, Callable[[Table, Hadoop], LakeTable]] = {
    "Iceberg": open_iceberg,
    "Delta Lake": lambda table, hadoop: open_delta(table.name.typed, table_location(table), hadoop),
}


def is_lake_table(table: Table) -> bool:
    """Whether a table is of a format that is read here."""
    return table_format(table) in _OPENED


def open_table(table: Table, hadoop: Hadoop = no_settings) -> LakeTable:
    """The table's newest version; `hadoop` returns a setting of Hadoop by its name.

    Raises SettingsError without the format's extra, StatementError if unreadable.
    """
    return _OPENED[table_format(table) or ""](table, hadoop)


def check_request(table: Table, request: Statement) -> None:
    """Raises StatementError for partitions: a table of such a format is analysed as a whole."""
    if request.partitions is None and request.where is None:
        return
    raise StatementError(
        f"table {table.name.typed} is of the format {table_format(table)}, which has no partitions in the metastore: it"
        " is analysed as a whole"
    )

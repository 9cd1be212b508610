"""Tables and columns that must exist: an error for each that does not, in the words of the command line."""

from hmstats.client import Metastore
from hmstats.client.naming import named_table
from hmstats.errors import NoSuchObject
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, Column, Table, TableName
from hmstats.model.spark.spark_schema import data_columns


def existing_table(service: Metastore, text: str) -> Table:
    """The table named as `[CATALOG.]DB.TABLE`. Raises NoSuchObject when there is none, StatementError for no name."""
    found = service.find_table(named_table(text))
    if found is None:
        raise NoSuchObject(f"table {text} is not in the metastore at {service.address}")
    return found


def every_column(table: Table) -> tuple[Column, ...]:
    """The data columns, then the partition keys."""
    return (*data_columns(table), *table.partition_keys)


def existing_column(table: Table, name: str) -> Column:
    """A column or partition key, whatever the case of its name. Raises NoSuchObject when there is none."""
    found = next((each for each in every_column(table) if each.name.lower() == name.lower()), None)
    if found is None:
        raise NoSuchObject(f"column {name} is not in table {table.name.typed}")
    return found


def shown_name(name: TableName) -> str:
    """The name by which existing_table finds the table again; the default catalog is left out."""
    parts = (
        (name.database, name.table) if name.catalog == DEFAULT_CATALOG else (name.catalog, name.database, name.table)
    )
    return ".".join(each if _is_plain(each) else quote_name(each) for each in parts)


def _is_plain(part: str) -> bool:
    return part.replace("_", "a").isalnum()

"""The error that statistics calls give for a table that is not there, in the metastore's words."""

from hmstats.errors import NoSuchObject
from hmstats.model.catalog import TableName


def missing_table(name: TableName) -> NoSuchObject:
    """The error for a table that is not there."""
    return NoSuchObject(f"Specified catalog.database.table does not exist : {name}")

"""Names of tables and databases that must exist: a misspelt one would be healthy, and never be refreshed."""

from hmstats.client import Metastore
from hmstats.client.naming import named_object
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import DEFAULT_CATALOG


def check_exists(service: Metastore, text: str) -> None:
    """Raise StatementError for the name of a table or a database that is missing; a pattern may match nothing."""
    if "*" in text:
        return
    of, table = named_object(text)
    if table is not None:
        service.existing_table(text)
    elif of.catalog == DEFAULT_CATALOG and of.database not in service.database_names():
        raise StatementError(f"database {text} is not in the metastore at {service.address}")

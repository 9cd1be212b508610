"""Table names as people type them."""

from hmstats.errors import StatementError
from hmstats.model.catalog import DEFAULT_DATABASE, TableName
from hmstats.model.names import table_name


def named_table(text: str, database: str = DEFAULT_DATABASE) -> TableName:
    """The table `[DB.]TABLE`, backquoted or not; `database` is what a bare name means. Raises StatementError."""
    parts = [part.strip().strip("`") for part in text.split(".")]
    if not 1 <= len(parts) <= 2 or not all(parts):
        raise StatementError(f"a table must be named as DB.TABLE, found {text!r}")
    return table_name(parts[0] if len(parts) == 2 else database, parts[-1])

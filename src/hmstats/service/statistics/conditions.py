"""Changes that are made only if their table is as their caller has seen it."""

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import TableName
from hmstats.store.changes import versions
from hmstats.store.unit.unit import Unit


def require_version(unit: Unit, name: TableName, table_id: int, expected: int | None) -> None:
    """Raise InvalidInput unless a table, which the unit has locked, has this version; None: whatever it has.

    It is read in a statement after the lock, since the statement that locks may see what was before it had to wait.
    """
    if expected is None:
        return
    found = versions.read(unit.connection, table_id)
    if found != expected:
        raise InvalidInput(f"table {name} has changed: expected version {expected}, found {found}")

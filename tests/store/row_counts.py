"""How many rows each table has: equal before and after when something that was made is removed without a trace."""

from sqlalchemy import func, literal, select, union_all

from hmstats.store.database.store import Store
from hmstats.store.schema import METADATA

_COUNTED = [
    table
    for name, table in METADATA.tables.items()
    if name != "SEQUENCE_TABLE" and not name.startswith("HMSTATS_HISTORY")  # what is removed stays in the history
]


def row_counts(store: Store) -> dict[str, int]:
    """Rows by table, of those tables that have any."""
    query = union_all(*(select(literal(each.name), func.count()).select_from(each) for each in _COUNTED))
    with store.read() as connection:
        return {name: count for name, count in connection.execute(query) if count}

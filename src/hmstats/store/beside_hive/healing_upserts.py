"""Upserts into Hive's own tables of statistics, which lack a unique index and may have two rows for one column.

Two writers that look for a row at once both find none, and both insert. So a write updates the newest of the existing
rows, deletes the others, and inserts missing ones: one statement, which leaves one row. Hive may hold the id of
a row that it is about to change, so the newest row keeps its id.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, delete, func, insert, select, update


def healing_upsert(
    table: Table,
    key: Sequence[str],
    rows: Select[Any],
    inserted: Sequence[str],
    changes: Callable[[Any, Any], Mapping[str, ColumnElement[Any]]],
) -> Any:
    """The upsert statement. `rows` selects the new rows; the columns `inserted` of it make a row that is missing.

    Its columns have the names of the table's columns. `changes` is as in upserts.py.
    """
    (identity,) = table.primary_key
    sent = rows.cte("sent")
    key_columns = [table.c[name] for name in key]
    order = (table.c.LAST_ANALYZED.desc(), identity.desc())
    place = func.row_number().over(partition_by=key_columns, order_by=order).label("place")
    found = select(identity, *key_columns, place).join(sent, _same_key(table, sent, key)).subquery("found")
    kept = select(found).where(found.c.place == 1).cte("kept")
    mine = _same_key(kept, sent, key)
    changed = update(table).where(identity == kept.c[identity.name], mine).values(dict(changes(table.c, sent.c)))
    others = delete(table).where(_same_key(table, sent, key), identity.not_in(select(kept.c[identity.name])))
    new = select(*(sent.c[name] for name in inserted)).where(~select(kept.c[identity.name]).where(mine).exists())
    added = insert(table).from_select(list(inserted), new, include_defaults=False)
    return added.add_cte(changed.returning(identity).cte("changed"), others.returning(identity).cte("others"))


def _same_key(one: Any, other: Any, key: Sequence[str]) -> ColumnElement[bool]:
    return and_(*(one.c[name] == other.c[name] for name in key))

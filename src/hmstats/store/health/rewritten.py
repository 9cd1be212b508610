"""Statistics that were written since a version of their table, and the sizes of the table then, by the history.

The history keeps what each write replaces. So the first value of a parameter that was replaced after the statistics
were written is the one that they were written beside.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, and_, or_, select

from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.store.history.steps import OF_TABLE, Kind
from hmstats.store.schema import HMSTATS_HISTORY, HMSTATS_HISTORY_PARAMETER

_SIZES = (NUM_ROWS, NUM_FILES, TOTAL_SIZE)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The last write of statistics: of how many columns (None: all), and parameters of size that changed after it.

    `then` has the value before that change; None where there was none.
    """

    columns: int | None
    place: tuple[int, int]
    then: dict[str, str | None] = field(default_factory=dict)


def since(connection: Connection, versions: Mapping[int, int]) -> dict[tuple[int, int], Rewritten]:
    """What was rewritten after these versions of tables, by the ids of the table and the partition (OF_TABLE: none)."""
    if not versions:
        return {}
    h, p = HMSTATS_HISTORY.c, HMSTATS_HISTORY_PARAMETER.c
    later = or_(*(and_(h.TBL_ID == each, version < h.VERSION) for each, version in versions.items()))
    query = select(h.TBL_ID, h.VERSION, h.STEP, h.COLUMN_NAMES, h.PART_IDS).where(h.KIND == Kind.COLUMNS.value, later)
    found: dict[tuple[int, int], Rewritten] = {}
    for table_id, version, step, columns, parts in connection.execute(query.order_by(h.TBL_ID, h.VERSION, h.STEP)):
        number = None if columns is None else len(json.loads(columns))
        for part_id in json.loads(parts) if parts is not None else (OF_TABLE,):
            found[table_id, part_id] = Rewritten(number, (version, step))
    if not found:
        return {}
    later = or_(*(and_(p.TBL_ID == each, version < p.VERSION) for each, version in versions.items()))
    sizes = select(p.TBL_ID, p.PART_ID, p.VERSION, p.STEP, p.PARAM_KEY, p.PARAM_VALUE).where(p.PARAM_KEY.in_(_SIZES))
    rows = connection.execute(sizes.where(later).order_by(p.TBL_ID, p.VERSION, p.STEP))
    for table_id, part_id, version, step, key, value in rows:
        written = found.get((table_id, part_id))
        if written is not None and (version, step) > written.place:
            written.then.setdefault(key, value)
    return found

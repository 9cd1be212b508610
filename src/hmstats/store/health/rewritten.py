"""Statistics that were written since a version of their table, and the table's sizes and marks then, by the history.

The history keeps what each write replaces. So the first value of a parameter that was replaced after the statistics
were written is the one that they were written beside.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, and_, or_, select

from hmstats.model.parameters.accurate import PARAMETER
from hmstats.model.parameters.basic_statistics import NUM_FILES, TOTAL_SIZE
from hmstats.model.parameters.row_counts import NUM_ROWS
from hmstats.store.history.steps import OF_TABLE, Kind
from hmstats.store.schema import HMSTATS_HISTORY, HMSTATS_HISTORY_PARAMETER

_KEYS = (NUM_ROWS, NUM_FILES, TOTAL_SIZE, PARAMETER)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The last write of statistics: of how many columns (None: all), and parameters that changed after it.

    `version` is the table's that the write made; if it still is, the table is `untouched` since. `then` has the values
    before a change of sizes and of marks of accuracy; None where there was none.
    """

    columns: int | None
    version: int
    untouched: bool = False
    then: dict[str, str | None] = field(default_factory=dict)


def since(connection: Connection, versions: Mapping[int, int]) -> dict[tuple[int, int], Rewritten]:
    """The last writes of statistics after these versions of tables, by ids of table and partition (OF_TABLE: none)."""
    if not versions:
        return {}
    h, p = HMSTATS_HISTORY.c, HMSTATS_HISTORY_PARAMETER.c
    later = or_(*(and_(h.TBL_ID == each, version < h.VERSION) for each, version in versions.items()))
    query = select(h.TBL_ID, h.VERSION, h.COLUMN_NAMES, h.PART_IDS).where(h.KIND == Kind.COLUMNS.value, later)
    found: dict[tuple[int, int], Rewritten] = {}
    for table_id, version, columns, parts in connection.execute(query.order_by(h.TBL_ID, h.VERSION, h.STEP)):
        number = None if columns is None else len(json.loads(columns))
        for part_id in json.loads(parts) if parts is not None else (OF_TABLE,):
            found[table_id, part_id] = Rewritten(number, version)
    if not found:
        return {}
    later = or_(*(and_(p.TBL_ID == each, version < p.VERSION) for each, version in versions.items()))
    changed = select(p.TBL_ID, p.PART_ID, p.VERSION, p.PARAM_KEY, p.PARAM_VALUE).where(p.PARAM_KEY.in_(_KEYS))
    rows = connection.execute(changed.where(later).order_by(p.TBL_ID, p.VERSION, p.STEP))
    for table_id, part_id, version, key, value in rows:
        written = found.get((table_id, part_id))
        if written is not None and version > written.version:  # what the write itself changes belongs to it
            written.then.setdefault(key, value)
    return found

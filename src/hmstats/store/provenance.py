"""HMSTATS_PROVENANCE: where the statistics of each column come from."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column

from hmstats.model.provenance import Provenance
from hmstats.store.schema import HMSTATS_PROVENANCE as PROVENANCE
from hmstats.store.unit import Unit
from hmstats.store.upserts import upsert

KEY = ("TBL_ID", "PART_ID", "COLUMN_NAME", "ENGINE")
_COLUMNS = {
    "exact": "EXACT",
    "ndv_standard_error": "NDV_STANDARD_ERROR",
    "rows_seen": "ROWS_SEEN",
    "sample_fraction": "SAMPLE_FRACTION",
    "writer": "WRITER",
    "tool": "TOOL",
    "written_at_seconds": "WRITTEN_AT",
}
_MOST_CHARACTERS = 256


def values() -> list[Column[Any]]:
    """The columns that `from_row` takes, in its order."""
    return [PROVENANCE.c[name] for name in _COLUMNS.values()]


def from_row(row: Sequence[Any]) -> Provenance:
    """The provenance in a row."""
    return Provenance(**dict(zip(_COLUMNS, row, strict=True)))


def write(unit: Unit, table_id: int, given: Mapping[tuple[int, str, str], Provenance]) -> None:
    """Write provenance by partition id (or details.OF_TABLE), column and engine, over what is there.

    It is stamped with the unit's time unless it says another.
    """
    rows = [{**dict(zip(KEY, (table_id, *key), strict=True)), **_row(unit, given[key])} for key in sorted(given)]
    upsert(unit, PROVENANCE, KEY, rows, lambda _, new: {name: new[name] for name in _COLUMNS.values()})


def _row(unit: Unit, given: Provenance) -> dict[str, Any]:
    row = {column: getattr(given, field) for field, column in _COLUMNS.items()}
    written = unit.now_seconds if given.written_at_seconds is None else given.written_at_seconds
    return {**row, "WRITER": _cut(given.writer), "TOOL": _cut(given.tool), "WRITTEN_AT": written}


def _cut(text: str | None) -> str | None:
    # PostgreSQL keeps every character but NUL.
    return None if text is None else text.replace("\0", "\ufffd")[:_MOST_CHARACTERS]

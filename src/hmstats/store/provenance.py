"""HMSTATS_PROVENANCE: where the statistics of each column come from."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import Column, ColumnElement

from hmstats.model.provenance import Provenance
from hmstats.store.schema import HMSTATS_PROVENANCE as PROVENANCE
from hmstats.store.unit import Unit
from hmstats.store.upserts import upsert_columns

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
_VALUES = attrgetter(*_COLUMNS)
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
    if not given:
        return
    keys = sorted(given)
    partition_ids, names, engines = zip(*keys, strict=True)
    each = {id(made): _VALUES(made) for made in given.values()}  # mostly one for all
    values = zip(*(each[id(given[key])] for key in keys), strict=True)
    columns: dict[str, Sequence[Any]] = {
        **dict(zip(KEY, ([table_id] * len(given), partition_ids, names, engines), strict=True)),
        **dict(zip(_COLUMNS.values(), values, strict=True)),
    }
    for name in ("WRITER", "TOOL"):
        cut = {text: _cut(text) for text in set(columns[name])}
        columns[name] = [cut[text] for text in columns[name]]
    columns["WRITTEN_AT"] = [unit.now_seconds if each is None else each for each in columns["WRITTEN_AT"]]
    upsert_columns(unit, PROVENANCE, KEY, columns, _replaced)


def _replaced(_old: Any, new: Any) -> dict[str, ColumnElement[Any]]:
    return {name: new[name] for name in _COLUMNS.values()}


def _cut(text: str | None) -> str | None:
    # PostgreSQL keeps every character but NUL.
    return None if text is None else text.replace("\0", "\ufffd")[:_MOST_CHARACTERS]

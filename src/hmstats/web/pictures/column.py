"""The picture that a column's statistics allow: a histogram, else shares of values, else none."""

from hmstats.web.answers.columns import ColumnFacts
from hmstats.web.answers.numbers import Number
from hmstats.web.pictures.histogram import histogram_picture
from hmstats.web.pictures.shares import Share, shares_picture


def column_picture(column: ColumnFacts, rows: Number | None) -> str | None:
    """The picture, None when nothing stored can be drawn."""
    if column.histogram is not None:
        return histogram_picture(column.name, column.histogram, nulls_part(column, rows))
    found = shares(column, rows)
    return shares_picture(column.name, found, nulls_part(column, rows) or 0) if found else None


def nulls_part(column: ColumnFacts, rows: Number | None) -> float | None:
    """The part of the rows that are null, None if it is unknown."""
    every = _every(column, rows)
    if column.nulls is None or not every:
        return None
    return min(column.nulls.value / every, 1.0)


def _every(column: ColumnFacts, rows: Number | None) -> int | None:
    """The rows that the column's statistics were made of, by themselves if they tell."""
    nulls = column.nulls.value if column.nulls else 0
    values = column.frequent.count if column.frequent else column.histogram.values if column.histogram else None
    if column.trues is not None and column.falses is not None:
        values = column.trues.value + column.falses.value
    if values is not None:
        return values + nulls
    return rows.value if rows else None


def shares(column: ColumnFacts, rows: Number | None) -> list[Share]:
    """The parts of all rows that true and false have, or the values that are sure to be the most frequent."""
    every = _every(column, rows)
    if not every:
        return []
    if column.trues is not None and column.falses is not None:
        return [Share(True, column.trues.value / every), Share(False, column.falses.value / every)]
    values = column.frequent.sure[:5] if column.frequent else ()
    found, room = [], 1.0
    for each in values:
        part = min(each.high / every, room)
        room -= part
        found.append(Share(each.value, part))
    return found

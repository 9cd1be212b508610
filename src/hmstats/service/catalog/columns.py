"""What a change of columns does to statistics: which of them still hold, and what the parameters then say."""

import re
from collections.abc import Mapping, Sequence

from hmstats.model.accurate import PARAMETER, Accurate
from hmstats.model.catalog import Column

_SIZES = ("numFiles", "totalSize", "rawDataSize")
"""Counted by whoever writes files. An alter that leaves them out keeps the stored ones: no directory is listed here."""

_ASKED_ONCE = "DO_NOT_UPDATE_STATS"
"""An order to the metastore that some clients send among the parameters; it is not kept."""

_BLANKS = re.compile(r"\s*([(),<>:])\s*")
_DECIMAL = re.compile(r"\bdecimal\b(?:\((\d+)(?:,(\d+))?\))?")


def lost_columns(old: Sequence[Column], new: Sequence[Column]) -> list[str]:
    """The old columns whose statistics no longer hold: dropped, renamed or of another type."""
    kept = {_same(column) for column in new}
    return [column.name.lower() for column in old if _same(column) not in kept]


def same_columns(one: Sequence[Column], other: Sequence[Column]) -> bool:
    """Whether the names and types are the same, in the same order.

    Case and blanks do not matter in either, and `decimal` is `decimal(10,0)`.
    """
    return list(map(_same, one)) == list(map(_same, other))


def kept_parameters(stored: Mapping[str, str], new: Mapping[str, str], lost: Sequence[str]) -> dict[str, str]:
    """The parameters after an alter: the new ones, sizes that they leave out, and no lost column marked as accurate."""
    merged = {key: stored[key] for key in _SIZES if key in stored} | without_orders(new)
    return unmarked(merged, lost)


def unmarked(parameters: Mapping[str, str], lost: Sequence[str]) -> dict[str, str]:
    """The parameters with no lost column marked as accurate."""
    if not lost or PARAMETER not in parameters:
        return dict(parameters)
    return {**parameters, PARAMETER: Accurate.parse(parameters[PARAMETER]).without_columns(lost).text()}


def without_orders(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters without those that are orders to the metastore."""
    return {key: value for key, value in parameters.items() if key != _ASKED_ONCE}


def _same(column: Column) -> tuple[str, str]:
    return column.name.lower(), _normal(column.type)


def _normal(column_type: str) -> str:
    text = _BLANKS.sub(r"\1", column_type.strip().lower())
    text = _DECIMAL.sub(lambda found: f"decimal({found[1] or 10},{found[2] or 0})", text)
    return "int" if text == "integer" else text

"""Effects of a change of columns: the statistics that still hold, and the parameters after it."""

import re
from collections.abc import Mapping, Sequence

from hmstats.model.catalog.objects import Column
from hmstats.model.parameters.accurate import PARAMETER, without_marks_of
from hmstats.model.parameters.basic_statistics import FILE_SIZES, NUM_FILES, RAW_DATA_SIZE, TOTAL_SIZE
from hmstats.model.parameters.row_counts import row_count
from hmstats.model.parameters.statistics_keys import FINGERPRINT

_SIZES = (NUM_FILES, TOTAL_SIZE, RAW_DATA_SIZE)
"""Counts by the writers of files. If an alter leaves them out, the stored ones stay."""

_ICEBERG_COMMIT = "metadata_location"
"""The parameter that names the metadata file of an Iceberg table. Each commit gives it another."""

AS_GIVEN = "DO_NOT_UPDATE_STATS"
_ORDERS = frozenset({AS_GIVEN, "created_with_ctlt"})
"""Orders to the metastore that clients send as parameters; they are not stored."""

_BLANKS = re.compile(r"(?<!\s)\s+(?=[(),<>:])|(?<=[(),<>:])\s+")
"""Blanks beside brackets, commas and colons. Matches start at the first blank of a run: else time is quadratic."""
_DECIMAL = re.compile(r"\bdecimal\b(?:\((\d+)(?:,(\d+))?\))?")


def lost_columns(old: Sequence[Column], new: Sequence[Column]) -> list[str]:
    """The names of old columns that were dropped, renamed or changed in type: their statistics no longer hold."""
    new_columns = {_comparable(column) for column in new}
    return [column.name.lower() for column in old if _comparable(column) not in new_columns]


def same_columns(one: Sequence[Column], other: Sequence[Column]) -> bool:
    """Whether both have the same names and types in the same order.

    Case and blanks do not matter, and `decimal` equals `decimal(10,0)`.
    """
    return list(map(_comparable, one)) == list(map(_comparable, other))


def kept_parameters(stored: Mapping[str, str], new: Mapping[str, str], lost: Sequence[str]) -> dict[str, str]:
    """The parameters after an alter: the new ones, with stored sizes that they lack, and no mark of a lost column.

    If a column is lost, the fingerprint of an analysis is too: the next one looks at files that have not changed.
    A commit to an Iceberg table removes the whole mark: clients send it back as they read it, whatever they wrote.
    """
    given = without_unknown_sizes(without_orders(new))
    merged = {key: stored[key] for key in _SIZES if key in stored} | given
    if lost:
        merged.pop(FINGERPRINT, None)
    if stored.get(_ICEBERG_COMMIT) != merged.get(_ICEBERG_COMMIT):
        return {key: value for key, value in merged.items() if key != PARAMETER}
    return without_marks_of(merged, lost)


def without_orders(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters without orders to the metastore."""
    return {key: value for key, value in parameters.items() if key not in _ORDERS}


def without_unknown_sizes(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters without invalid numbers of files and bytes, such as the -1 of Flink's ANALYZE."""
    unknown = {key for key in FILE_SIZES if key in parameters and row_count(parameters[key]) is None}
    return {key: value for key, value in parameters.items() if key not in unknown}


def _comparable(column: Column) -> tuple[str, str]:
    return column.name.lower(), _normal(column.type)


def _normal(column_type: str) -> str:
    text = _BLANKS.sub("", column_type.strip().lower())
    text = _DECIMAL.sub(lambda match: f"decimal({match[1] or 10},{match[2] or 0})", text)
    return "int" if text == "integer" else text

"""Refuses filters over partition keys of numbers that a metastore compares as text."""

import re
from collections.abc import Iterable

from hmstats.errors import StatementError
from hmstats.model.catalog.objects import Column
from hmstats.model.statistics.column_types import base_type

_FRACTIONS = frozenset({"decimal", "double", "float"})
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NAME = re.compile(r"\w+")


def check_filtered_keys(of: str, where: str, keys: Iterable[Column]) -> None:
    """Raises StatementError if a filter names a key of decimals or doubles: 1.5 would not match a stored 1.50.

    `of` is the table's name, for the error.
    """
    named = {each.lower() for each in _NAME.findall(_TEXT.sub(" ", where))}
    for key in keys:
        if base_type(key.type) in _FRACTIONS and key.name.lower() in named:
            raise StatementError(
                f"table {of}: partition key {key.name} of type {key.type} cannot be in a filter, since a metastore "
                f"compares it as text, found {where}: name the partitions"
            )

"""Partition expressions: what Hive's planner sends as a serialised Java object, which nothing but Java can read.

Some clients send a filter's text in its place. That is served; everything else is refused with what may be sent.
"""

from collections.abc import Sequence

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog import TableName
from hmstats.service.catalog.partitions import ALL, Found, Partitions


class Expressions:
    """Finds partitions by expressions."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions

    def find(self, name: TableName, expression: bytes | None, limit: int = ALL) -> Found:
        """The partitions that an expression wants. Raises NoSuchObject without the table, MetaError."""
        return self._partitions.filtered(name, _text(expression), limit)

    def names(self, name: TableName, expression: bytes | None, limit: int = ALL) -> list[str]:
        """The names of the partitions that an expression wants, sorted; all of them without one. Raises likewise."""
        if not expression:
            return self._partitions.names(name, limit)
        return list(self.find(name, expression, limit).partitions)

    def names_of_each(self, name: TableName, expressions: Sequence[bytes], *, if_exists: bool) -> list[str]:
        """The names of the partitions that any of the expressions wants.

        Raises NoSuchObject without the table, and when one wants no partition unless `if_exists`; MetaError.
        """
        found: dict[str, None] = {}
        for expression in expressions:
            if not expression:
                raise MetaError(f"an expression that says which partitions of table {name} to drop must not be empty")
            names = self.names(name, expression)
            if not names and not if_exists:
                raise NoSuchObject(f"Some partitions to drop are missing in table {name}")
            found.update(dict.fromkeys(names))
        return list(found)


def _text(expression: bytes | None) -> str:
    try:
        text = (expression or b"").decode()
    except UnicodeDecodeError:
        text = "\0"
    if not all(each.isprintable() or each.isspace() for each in text):
        raise MetaError(
            "an expression over partitions must be a filter's text, found a serialised Java object: "
            "ask by filter (get_partitions_by_filter), names or values"
        )
    return text

"""Partitions found by the conditions of Hive's planner, or by a filter's text, which some clients send instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import NamedTuple, TypeAlias

from hmstats.errors import MetaError, NoSuchObject
from hmstats.model.catalog.names import NULL_PARTITION_VALUE, values_of_names
from hmstats.model.catalog.objects import KeyedTable, TableName
from hmstats.model.partitions.key_values import as_type, compare_values
from hmstats.model.partitions.partition_expression import PartitionExpression, compile_expression
from hmstats.model.partitions.partitions_by_name import PartitionsByName
from hmstats.service.catalog.partitions.partition_rules import keys_of
from hmstats.service.catalog.partitions.partitions import ALL, Partitions, TablePartitions

Condition: TypeAlias = PartitionExpression | str | None
"""A condition: an expression, a filter's text, or None, which every partition meets."""


@dataclass(frozen=True, slots=True)
class ConditionQuery:
    """A request for partitions: those that meet a condition, at most `limit`, ordered by some keys or by name.

    `order` has Hive's form: indexes of keys, then + or - for each, as `1,0:-+`. `null_value` is the text of a null key.
    """

    condition: Condition
    limit: int = ALL
    null_value: str = NULL_PARTITION_VALUE
    order: str | None = None


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """Partitions found. If `unknown`, the condition could not be evaluated for some, which may not meet it."""

    table: KeyedTable
    partitions: PartitionsByName
    unknown: bool


class _MatchedNames(NamedTuple):
    """The sorted names of a condition's partitions; `unknown` are those for which it could not be evaluated."""

    table: KeyedTable
    names: list[str]
    unknown: list[str]


class Expressions:
    """Finds partitions by conditions."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions

    def find(self, name: TableName, question: ConditionQuery) -> ConditionResult:
        """The partitions that meet the condition.

        Raises NoSuchObject if the table does not exist, MetaError, UnknownExpression.
        """
        if question.condition is None or isinstance(question.condition, str):
            result = self._partitions.filtered(name, question.condition or "", question.limit)
            return ConditionResult(result.table, result.partitions, unknown=False)
        matched = self._match(name, question)
        result = self._partitions.by_names(
            name, self._partitions.listable(matched.table, matched.names, question.limit)
        )
        return ConditionResult(matched.table, result.partitions, unknown=bool(matched.unknown))

    def names(self, name: TableName, question: ConditionQuery) -> list[str]:
        """The names of the partitions that meet the condition.

        If there is neither a condition nor an order, a missing table has none. Raises as `find` otherwise.
        """
        if not question.condition and not question.order:
            return self._partitions.names(name, question.limit)
        matched = self._match(name, question)
        names = _in_order(matched.table, matched.names, question)
        return names if question.limit < 0 else names[: question.limit]

    def names_of_each(self, name: TableName, conditions: Sequence[Condition], *, if_exists: bool) -> list[str]:
        """The names of the partitions that meet any of the conditions.

        Raises NoSuchObject if the table does not exist, and if no partition meets one of them unless `if_exists`;
        MetaError if one is empty or cannot be evaluated for a partition.
        """
        matched_names: dict[str, None] = {}
        for condition in conditions:
            if not condition:
                raise MetaError(f"table {name}: an expression that selects partitions to drop must not be empty")
            matched = self._match(name, ConditionQuery(condition))
            if matched.unknown:
                raise MetaError(f"Unexpected unknown partitions to drop in table {name}: {matched.unknown[0]}")
            if not matched.names and not if_exists:
                raise NoSuchObject(f"Some partitions to drop are missing in table {name}")
            matched_names.update(dict.fromkeys(matched.names))
        return list(matched_names)

    def _match(self, name: TableName, question: ConditionQuery) -> _MatchedNames:
        condition = question.condition
        if condition is None or isinstance(condition, str):
            filtered: TablePartitions = self._partitions.filtered(name, condition or "")
            return _MatchedNames(filtered.table, list(filtered.partitions), [])
        table, names = self._partitions.all_names(name)
        keys = keys_of(table)
        evaluate = compile_expression(
            condition, [(key.name, key.type) for key in table.partition_keys], question.null_value
        )
        matched = _MatchedNames(table, [], [])
        for partition, values in zip(names, values_of_names(names, keys), strict=True):
            outcome = evaluate(values)
            if outcome is None and question.null_value not in values:
                matched.unknown.append(partition)
            elif not outcome:
                continue
            matched.names.append(partition)
        return matched


def _in_order(table: KeyedTable, names: Sequence[str], question: ConditionQuery) -> list[str]:
    """The names sorted by the values of keys; nulls are the highest."""
    if not question.order:
        return list(names)
    keys, ordered_names = keys_of(table), list(names)
    rows = dict(zip(names, values_of_names(names, keys), strict=True))
    for index, descending in reversed(_parse_order(question.order, len(keys))):
        kind = table.partition_keys[index].type
        typed = {
            each: None if values[index] == question.null_value else as_type(values[index], kind)
            for each, values in rows.items()
        }
        ordered_names.sort(
            key=cmp_to_key(
                lambda one, other, typed=typed: (  # type: ignore[misc]
                    (typed[one] is None) - (typed[other] is None) or compare_values(typed[one], typed[other]) or 0
                )
            ),
            reverse=descending,
        )
    return ordered_names


def _parse_order(order: str, key_count: int) -> list[tuple[int, bool]]:
    """Parse an order: each key's index and whether it descends. Raises MetaError if it is malformed."""
    indexes, _, signs = order.partition(":")
    listed = indexes.split(",")
    if len(listed) != len(signs) or not all(each.strip().isdecimal() and int(each) < key_count for each in listed):
        raise MetaError(f"an order of partitions must be indexes of keys with + or -, as 1,0:-+, found {order!r}")
    return [(int(index), sign == "-") for index, sign in zip(listed, signs, strict=True)]

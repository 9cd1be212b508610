"""Reads the plan that Spark ran from its event's tree (sparkPlanInfo), with the numbers of rows from its metrics."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.model.feedback.queries import Operator

_ROWS = "number of output rows"
_KEYS = re.compile(r"keys=\[(.*?)\], functions=")
_SEPARATE = ("Union", "Expand", "Generate", "Sample")
_LIMITS = ("CollectLimit", "GlobalLimit", "LocalLimit", "CollectTail")
_WHOLE = ("Exchange", "BroadcastExchange", "Sort", "TakeOrderedAndProject", "Window")
"""Nodes that read all of their input before they return rows, so that no limit above truncates the input."""
_ONLY_NULLS = re.compile(r"\[(?:IsNotNull\([^)]*\)(?:, )?)*\]")
_NOTHING = "[]"
MOST_DEPTH = 500


@dataclass(frozen=True, slots=True)
class Ran:
    """A node that ran. `rows` is None if they were not counted, or if a limit truncated them.

    `chosen`: a scan that read only the partitions that a condition selected; `at_least`: one that may have skipped
    rows. `keys` is the text of an aggregate's keys.
    """

    operator: Operator
    rows: int | None
    inputs: tuple["Ran", ...] = ()
    chosen: bool = False
    at_least: bool = False
    keys: str = ""


def ran(tree: Mapping[str, Any], counts: Mapping[int, int]) -> Ran:
    """The nodes of a tree that have rows of their own. Raises ValueError if the tree is too deep."""
    return _read_node(tree, counts, cut=False, depth=0)


def _read_node(tree: Mapping[str, Any], counts: Mapping[int, int], *, cut: bool, depth: int) -> Ran:
    if depth > MOST_DEPTH:
        raise ValueError(f"a plan must be at most {MOST_DEPTH} nodes deep")
    name = str(tree["nodeName"])
    operator = _operator(name)
    rows = None if cut else _count_rows(tree, counts)
    below = _is_cut(tree, name, cut=cut or name.startswith(_LIMITS))
    children = [each for each in tree.get("children", ()) if not _is_subquery(str(each["nodeName"]))]
    inputs = tuple(_read_node(each, counts, cut=below, depth=depth + 1) for each in children)
    if operator is Operator.SCAN:
        return _scan(tree, rows)
    if operator is None and len(inputs) == 1:
        return inputs[0]
    if operator is Operator.AGGREGATE:
        keys = _KEYS.search(str(tree.get("simpleString", "")))
        return Ran(operator, rows, inputs, keys=keys[1] if keys is not None else "")
    return Ran(operator or Operator.OTHER, rows, inputs)


def _is_cut(tree: Mapping[str, Any], name: str, *, cut: bool) -> bool:
    """Whether the counts below a node do not come from exactly one complete run."""
    if name.startswith("Exchange") and "rangepartitioning(" in str(tree.get("simpleString", "")):
        return True  # the input has run twice: once for the bounds of the ranges
    if name.startswith(_WHOLE) or name.endswith("Aggregate"):
        return False
    return cut


def _operator(name: str) -> Operator | None:
    """The kind of a node; None if it returns the rows of its input."""
    if name.startswith(("Scan ", "BatchScan", "InMemoryTableScan", "LocalTableScan")):
        return Operator.SCAN
    if name == "Filter":
        return Operator.FILTER
    if "Join" in name or name == "CartesianProduct":
        return Operator.JOIN
    if name.endswith("Aggregate"):
        return Operator.AGGREGATE
    return Operator.OTHER if name.startswith(_SEPARATE) else None


def _scan(tree: Mapping[str, Any], rows: int | None) -> Ran:
    metadata = tree.get("metadata") or {}
    partitions = str(metadata.get("PartitionFilters", _NOTHING))
    pushed = str(metadata.get("PushedFilters", _NOTHING))
    chosen = partitions != _NOTHING
    return Ran(Operator.SCAN, rows, (), chosen, chosen or _ONLY_NULLS.fullmatch(pushed) is None)


def _count_rows(tree: Mapping[str, Any], counts: Mapping[int, int]) -> int | None:
    for each in tree.get("metrics", ()):
        if each["name"] == _ROWS:
            return counts.get(int(each["accumulatorId"]), 0)
    return None


def _is_subquery(name: str) -> bool:
    return name.startswith(("Subquery", "ReusedSubquery"))

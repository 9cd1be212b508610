"""Reads queries from Trino's events of finished queries (io.trino.spi.eventlistener.QueryCompletedEvent) as JSON.

Trino declares this JSON unstable between versions, so it is read leniently: unexpected parts are skipped. Counts are
those of operators (statistics.operatorSummaries), joined to the plan (metadata.jsonPlan) by the node's id.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from hmstats.learning.skipped import UNEXPECTED, Skipped, count_of, estimate_of, seconds_of
from hmstats.learning.trino.explained import ENGINE
from hmstats.learning.trino.nodes import MOST_DEPTH, Node, operations, read_once
from hmstats.model.feedback.queries import Query

_COUNTING = (
    "LookupJoinOperator",
    "HashAggregationOperator",
    "AggregationOperator",
    "ScanFilterAndProjectOperator",
    "TableScanOperator",
    "FilterAndProjectOperator",
    "NestedLoopJoinOperator",
    "SpatialJoinOperator",
)
"""Operators whose output is that of their node; other operators of the node only pass rows on."""
_SCANS = ("ScanFilterAndProjectOperator", "TableScanOperator")
_SOURCES = re.compile(r"\d+")
_FINISHED = "FINISHED"


def text_of_events(text: str, skipped: Skipped) -> Iterator[Mapping[str, Any]]:
    """The events in a text: one, a list of them, or one on each line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = list(_by_line(text, skipped))
    for each in whole if isinstance(whole, list) else [whole]:
        if isinstance(each, dict):
            yield each
        else:
            skipped.broken_lines += 1


def _by_line(text: str, skipped: Skipped) -> Iterator[Any]:
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            skipped.broken_lines += 1


def is_event(event: Mapping[str, Any]) -> bool:
    """Whether an object is an event of a finished query."""
    return isinstance(event.get("metadata"), dict) and isinstance(event.get("statistics"), dict)


def event_query(event: Mapping[str, Any]) -> Query | None:
    """The query of an event; None if it failed, has no plan, or has an unexpected form."""
    try:
        metadata, statistics = event["metadata"], event["statistics"]
        if metadata.get("queryState") != _FINISHED or not metadata.get("jsonPlan"):
            return None
        plan = _parse_json(metadata["jsonPlan"])
        counts = _counts([_parse_json(each) for each in statistics.get("operatorSummaries") or ()])
        root = _root(plan)
        planned = operations(_node(root, plan, counts, 0))
        at_ms = _epoch_ms(event.get("createTime") or event["executionStartTime"])
        seconds = seconds_of(statistics.get("executionTime") or statistics.get("wallTime") or 1.0)
    except UNEXPECTED:
        return None
    return Query(ENGINE, at_ms, seconds, planned)


def _parse_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _epoch_ms(value: Any) -> int:
    """The epoch milliseconds of a time in ISO 8601 or in epoch seconds."""
    if isinstance(value, int | float):
        return count_of(value * 1_000)
    text = re.sub(r"(\.\d{6})\d+", r"\1", str(value)).replace("Z", "+00:00")
    return count_of(datetime.fromisoformat(text).timestamp() * 1_000)


def _counts(operators: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int | None, int]]:
    """The rows that each node read, if it scans, and returned, by the node's id."""
    found: dict[str, tuple[int | None, int]] = {}
    for each in operators:
        kind, number = each.get("operatorType"), str(each.get("planNodeId"))
        if kind not in _COUNTING:
            continue
        read, gave = found.get(number, (None, 0))
        if kind in _SCANS:
            read = (read or 0) + count_of(each["inputPositions"])
        found[number] = (read, gave + count_of(each["outputPositions"]))
    return found


def _root(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """The root of the fragment that no other fragment reads. Raises ValueError if one is read twice."""
    read = read_once(number for each in plan.values() for number in _all_sources(each))
    tops = [number for number in plan if number not in read]
    found = plan[tops[0] if tops else next(iter(plan))]
    return dict(found)


def _all_sources(node: Mapping[str, Any]) -> Iterator[str]:
    stack = [node]
    while stack:
        each = stack.pop()
        yield from _sources(each)
        stack += each.get("children") or ()


def _sources(node: Mapping[str, Any]) -> list[str]:
    return _SOURCES.findall(str((node.get("descriptor") or {}).get("sourceFragmentIds", "")))


def _node(
    node: Mapping[str, Any], plan: Mapping[str, Any], counts: Mapping[str, tuple[int | None, int]], depth: int
) -> Node:
    if depth > MOST_DEPTH:
        raise ValueError(f"a plan must be at most {MOST_DEPTH} nodes deep")
    below = [*(node.get("children") or ()), *(plan[each] for each in _sources(node) if each in plan)]
    read, gave = counts.get(str(node["id"]), (None, None))
    descriptor = {str(name): str(value) for name, value in (node.get("descriptor") or {}).items() if value}
    return Node(
        str(node["name"]),
        descriptor,
        tuple(str(each) for each in node.get("details") or ()),
        tuple(_estimate(each) for each in node.get("estimates") or ()),
        read,
        gave,
        tuple(_node(each, plan, counts, depth + 1) for each in below),
    )


def _estimate(given: Mapping[str, Any]) -> float | None:
    """The estimated rows; the text NaN means unknown."""
    return estimate_of(given.get("outputRowCount", "NaN"))

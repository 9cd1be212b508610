"""Collects finished executions of SQL from Spark's events, in bounded memory.

Only a few kinds of lines are parsed: the start, change and end of an execution, and the counts of stages and the
driver. Lines of tasks, which are most of a log, are recognised by their first bytes and skipped.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hmstats.learning.skipped import UNEXPECTED, Skipped, count_of

MOST_EXECUTIONS = 1_000
"""The most executions under way at once; beyond that, the oldest one is forgotten."""
MOST_COUNTS = 500_000
"""The most metrics whose counts are held."""
_HEAD_BYTES = 120
_SQL = "org.apache.spark.sql.execution.ui.SparkListener"
_START, _UPDATE, _END = f"{_SQL}SQLExecutionStart", f"{_SQL}SQLAdaptiveExecutionUpdate", f"{_SQL}SQLExecutionEnd"
_DRIVER, _STAGE = f"{_SQL}DriverAccumUpdates", "SparkListenerStageCompleted"
_WANTED = tuple(f'"{each}"'.encode() for each in (_START, _UPDATE, _END, _DRIVER, _STAGE))


@dataclass(frozen=True, slots=True)
class Execution:
    """A finished execution: its last plan, as text and as a tree, and the count of each metric by its id."""

    began_ms: int
    ended_ms: int
    text: str
    tree: Mapping[str, Any]
    counts: Mapping[int, int]


@dataclass(slots=True)
class _Running:
    began_ms: int
    text: str
    tree: Mapping[str, Any]


class _Counts(OrderedDict[int, int]):
    """The newest counts of metrics."""

    def note(self, number: int, value: Any) -> None:
        """Store a count; one below 0, which Spark gives to a metric that was never counted, is ignored."""
        if int(value) < 0:
            return
        self[number] = count_of(value)
        self.move_to_end(number)
        if len(self) > MOST_COUNTS:
            self.popitem(last=False)


def executions(lines: Iterable[bytes], skipped: Skipped) -> Iterator[Execution]:
    """The executions that succeeded, in the order in which they ended."""
    running: OrderedDict[int, _Running] = OrderedDict()
    counts = _Counts()
    for line in lines:
        event = _event(line, skipped)
        if event is None:
            continue
        try:
            ended = _follow(event, running, counts)
        except UNEXPECTED:
            skipped.broken_lines += 1
            continue
        if len(running) > MOST_EXECUTIONS:
            running.popitem(last=False)
            skipped.lost_executions += 1
        if ended is not None:
            yield ended


def _event(line: bytes, skipped: Skipped) -> Mapping[str, Any] | None:
    head = line[:_HEAD_BYTES]
    if not any(each in head for each in _WANTED):
        if line.strip() and not line.lstrip().startswith(b"{"):
            skipped.broken_lines += 1
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        skipped.broken_lines += 1
        return None
    return event if isinstance(event, dict) else None


def _follow(event: Mapping[str, Any], running: OrderedDict[int, _Running], counts: _Counts) -> Execution | None:
    """Process one event. Returns the execution that it ends, if any."""
    kind = event["Event"]
    if kind == _START:
        began = _Running(count_of(event["time"]), str(event["physicalPlanDescription"]), dict(event["sparkPlanInfo"]))
        running[int(event["executionId"])] = began
    elif kind == _UPDATE and (known := running.get(int(event["executionId"]))) is not None:
        known.text, known.tree = str(event["physicalPlanDescription"]), dict(event["sparkPlanInfo"])
    elif kind == _DRIVER:
        for number, value in event["accumUpdates"]:
            counts.note(int(number), value)
    elif kind == _STAGE:
        for each in event["Stage Info"].get("Accumulables", ()):
            if each.get("Metadata") == "sql":
                counts.note(int(each["ID"]), each["Value"])
    elif kind == _END:
        known = running.pop(int(event["executionId"]), None)
        if known is not None and not event.get("errorMessage"):
            return _end_execution(known, count_of(event["time"]), counts)
    return None


def _end_execution(known: _Running, ended_ms: int, counts: _Counts) -> Execution:
    wanted = set(_metrics(known.tree))
    return Execution(
        known.began_ms,
        ended_ms,
        known.text,
        known.tree,
        {number: counts[number] for number in wanted if number in counts},
    )


def _metrics(tree: Mapping[str, Any]) -> Iterator[int]:
    stack = [tree]
    while stack:
        each = stack.pop()
        yield from (int(metric["accumulatorId"]) for metric in each.get("metrics", ()))
        stack += each.get("children", ())

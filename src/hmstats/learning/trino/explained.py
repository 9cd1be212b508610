"""Parses Trino's text of EXPLAIN ANALYZE.

Each fragment has a tree: a node's line, such as `Aggregate[type = FINAL, keys = [name]]`, followed by lines with its
details. The bars before a line give its depth. `Estimates: {rows: 25 (527B), ..}/{..}` has one estimate for each
operation of a node, `Output: 341 rows` its result, `Input: 15000 rows` the rows that a scan read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from hmstats.learning.skipped import UNEXPECTED, count_of, estimate_of, seconds_of
from hmstats.learning.trino.nodes import MOST_DEPTH, Node, operations, read_once
from hmstats.model.feedback.queries import Query

ENGINE = "trino"
_BEGIN = re.compile(r"^[^\S\n]*Trino version: ", re.MULTILINE)
_FRAGMENT = re.compile(r"^\s*Fragment (\d+) \[")
_BARS = re.compile(r"[ │├└─]*")
_NODE = re.compile(r"^([A-Z]\w*)(?:\[(.*)\])?$", re.DOTALL)
_ROWS = re.compile(r"\{rows: ([0-9.]+|\?)")
_OUTPUT, _INPUT = re.compile(r"\bOutput: (\d+) rows?"), re.compile(r"^Input: (\d+) rows?")
_EXECUTION = re.compile(r"\bExecution: ([0-9.]+)(ns|us|ms|s|m|h|d)\b")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_SOURCES = re.compile(r"\d+")
_NAME = re.compile(r"\s*(\w+) = ")


@dataclass(slots=True)
class _Open:
    """A node whose lines are still being read."""

    name: str
    named: Mapping[str, str]
    details: list[str] = field(default_factory=list)
    estimates: tuple[float | None, ...] = ()
    rows_in: int | None = None
    rows: int | None = None
    children: list["_Open"] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Read a line with details of the node."""
        if line.startswith("Estimates: "):
            self.estimates = tuple(None if each == "?" else estimate_of(each) for each in _ROWS.findall(line))
        elif line.startswith("CPU: ") and (found := _OUTPUT.search(line)) is not None:
            self.rows = count_of(found[1])
        elif (found := _INPUT.search(line)) is not None:
            self.rows_in = count_of(found[1])
        elif " := " in line:
            self.details.append(line)


def is_explained(head: bytes) -> bool:
    """Whether a file that begins with these bytes contains an EXPLAIN ANALYZE."""
    text = head.decode("utf-8", "replace")
    return (
        _BEGIN.search(text) is not None or re.search(r"^[^\S\n]*Fragment \d+ \[\w+\]", text, re.MULTILINE) is not None
    )


def queries(text: str, at_ms: int) -> Iterator[Query]:
    """The queries of consecutive texts. The texts have no time of their own: it is `at_ms`."""
    places = [found.start() for found in _BEGIN.finditer(text)] or [0]
    for start, end in zip(places, [*places[1:], len(text)], strict=True):
        found = query(text[start:end], at_ms)
        if found is not None:
            yield found


def query(text: str, at_ms: int) -> Query | None:
    """The query of one text; None if it has no plan that ran."""
    try:
        fragments = _fragments(text.splitlines())
        if not fragments:
            return None
        used = read_once(number for each in fragments.values() for number in _sources_within(each))
        tops = [number for number in fragments if number not in used]
        root = _node(fragments[tops[0] if tops else next(iter(fragments))], fragments, 0)
        planned = operations(root)
        took = _EXECUTION.search(text)
        seconds = seconds_of(float(took[1]) * _SECONDS[took[2]]) if took is not None else 1.0
    except UNEXPECTED:
        return None
    return Query(ENGINE, at_ms, seconds, planned)


def _fragments(lines: list[str]) -> dict[str, _Open]:
    """The tree of each fragment, by the fragment's number."""
    found: dict[str, _Open] = {}
    path: list[_Open] = []
    number: str | None = None
    for line in lines:
        if (begins := _FRAGMENT.match(line)) is not None:
            number, path = begins[1], []
            continue
        if number is None:
            continue
        bars = _BARS.match(line)
        text = line[bars.end() if bars is not None else 0 :].rstrip()
        branch = max(line.find("├─ "), line.find("└─ "))
        is_root = number not in found and _NODE.match(text) is not None and ": " not in text.partition("[")[0]
        if not (is_root or (branch >= 0 and path)):
            if path and text:
                path[-1].take(text)
            continue
        node = _NODE.match(text)
        opened = _Open(
            node[1] if node is not None else text, parse_descriptor(node[2] or "") if node is not None else {}
        )
        depth = 0 if is_root else max((branch - 4) // 3 + 1, 1)
        del path[depth:]
        if path:
            path[-1].children.append(opened)
        else:
            found[number] = opened
        path.append(opened)
    return found


def parse_descriptor(text: str) -> dict[str, str]:
    """The parts of a descriptor, such as `table = hive:shop:orders, filterPredicate = (..)`, by their names."""
    found: dict[str, str] = {}
    for part in _parts(text):
        begins = _NAME.match(part)
        if begins is not None:
            found[begins[1]] = part[begins.end() :]
    return found


def _parts(text: str) -> list[str]:
    """The text cut at commas outside of brackets and literals."""
    parts, depth, start, quoted = list[str](), 0, 0, False
    for place, char in enumerate(text):
        if char == "'":
            quoted = not quoted
        elif not quoted and char in "([{":
            depth += 1
        elif not quoted and char in ")]}":
            depth -= 1
        elif char == "," and depth == 0 and not quoted:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]


def _sources_within(node: _Open) -> Iterator[str]:
    yield from _sources(node)
    for each in node.children:
        yield from _sources_within(each)


def _sources(node: _Open) -> list[str]:
    return _SOURCES.findall(node.named.get("sourceFragmentIds", ""))


def _node(opened: _Open, fragments: Mapping[str, _Open], depth: int) -> Node:
    if depth > MOST_DEPTH:
        raise ValueError(f"a plan must be at most {MOST_DEPTH} nodes deep")
    below = [*opened.children, *(fragments[each] for each in _sources(opened) if each in fragments)]
    children = tuple(_node(each, fragments, depth + 1) for each in below)
    return Node(
        opened.name, opened.named, tuple(opened.details), opened.estimates, opened.rows_in, opened.rows, children
    )

"""Parses the optimizer's plan as Spark 3.5 and 4 print it with spark.sql.ui.explainMode=cost.

Each line is a node; the bars before it give its depth. The line ends with `Statistics(sizeInBytes=.., rowCount=..)`,
where the row count is present if spark.sql.cbo.enabled is on and the metastore has one. Numbers are rounded to three
digits (2.00E+4).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hmstats.client.naming import table_of
from hmstats.errors import HmstatsError
from hmstats.learning.skipped import estimate_of
from hmstats.learning.spark import conditions
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import ColumnUse, Operation, Operator, Use

_TITLE, _END = "== Optimized Logical Plan ==", "== Physical Plan =="
_LINE = re.compile(r"((?::- |\+- |:  |   )*)(\S.*)", re.DOTALL)
_STATISTICS = re.compile(r", Statistics\(sizeInBytes=[^,()]*(?:, rowCount=([0-9.E+-]+))?[^()]*\)\s*$")
_BAR = 3
_RELATION = re.compile(r"Relation ([^\[]+)\[(.*)\] \S+$", re.DOTALL)
_HIVE_RELATION = re.compile(r"HiveTableRelation \[((?:`[^`]+`\.?)+)")
_V2_RELATION = re.compile(r"RelationV2\[(.*)\] (\S+)", re.DOTALL)
_BETWEEN = re.compile(r"[,\]]")
_NAMED_ID = re.compile(r"(?<=[^,\[\]])#(\d+)L?(?=\s|$)")
_RENAMED = re.compile(r"(?<=[^\s,\[])#(\d+)L? AS [^,]")
_NEW_ID = re.compile(r"#(\d+)L?(?=\]|$)")
_QUOTED = re.compile(r"`([^`]+)`")
_AGGREGATE = re.compile(r"Aggregate \[(.*?)\](?:, \[|$)", re.DOTALL)
_JOIN_KINDS = re.compile(
    r"Join (?:LeftSemi|LeftAnti|LeftOuter|RightOuter|FullOuter|Inner|Cross|ExistenceJoin\([^)]*\))"
)
_SEPARATE = ("Union", "Expand", "Generate", "Sample", "Intersect", "Except", "Distinct")
MOST_NODES = 5_000


@dataclass(slots=True)
class _Node:
    text: str
    estimated: float | None
    children: list["_Node"] = field(default_factory=list)


@dataclass(slots=True)
class _Columns:
    """The column behind each attribute, by id. `made` are the ids in nodes other than filters and joins."""

    known: dict[int, tuple[TableName, str]] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)
    made: set[int] = field(default_factory=set)

    def use(self, wanted: Iterable[tuple[int, Use]]) -> tuple[ColumnUse, ...]:
        """The uses of the attributes' columns; none if one is computed, since then no single column can be blamed."""
        pairs = [(self.known.get(self._find_original(number)), use) for number, use in wanted]
        if any(column is None for column, _ in pairs):
            return ()
        return tuple(ColumnUse(*column, use) for column, use in pairs if column is not None)

    def without_literals(self, condition: str) -> str:
        """The condition without ids in literals: one such as Brand#12 has no quotes and looks like an attribute."""

        def keep_attribute(found: re.Match[str]) -> str:
            number = int(found[1])
            column = self.known.get(number)
            if column is None:
                return found[0] if number in self.made else ""
            before = condition[max(found.start() - len(column[1]), 0) : found.start()]
            return found[0] if before.lower().endswith(column[1]) else ""

        return conditions.ID.sub(keep_attribute, condition)

    def _find_original(self, number: int) -> int:
        """The attribute for which `number` is an alias; shortens the chain of aliases on the way."""
        passed: set[int] = set()
        while number in self.shared and number not in passed:
            passed.add(number)
            number = self.shared[number]
        self.shared |= dict.fromkeys(passed, number)
        return number


def operations(text: str) -> Operation | None:
    """The optimizer's plan in a description; None if there is none, if it is truncated, or not in Spark's form."""
    start = text.find(_TITLE)
    end = text.find(_END, start)
    if start < 0 or end < 0:
        return None
    root = _tree(text[start + len(_TITLE) : end].strip("\n").split("\n"))
    if root is None:
        return None
    columns = _Columns()
    for each in _walk(root):
        _note_columns(each, columns)
    return _operation(root, columns)


def _tree(lines: list[str]) -> _Node | None:
    """The tree of the nodes. A line two levels deeper than the one before belongs to a subquery, and is skipped."""
    path: list[_Node] = []
    root: _Node | None = None
    hidden: int | None = None
    for number, line in enumerate(_join_lines(lines)):
        found = _LINE.fullmatch(line)
        if found is None or number > MOST_NODES:
            return root if number > MOST_NODES else None
        depth = len(found[1]) // _BAR
        if hidden is not None and depth >= hidden:
            continue
        hidden = depth if depth > len(path) else None
        if hidden is not None:
            continue
        estimate = _STATISTICS.search(found[2])
        rows = estimate_of(estimate[1]) if estimate is not None and estimate[1] else None
        node = _Node(found[2][: estimate.start()] if estimate is not None else found[2], rows)
        del path[depth:]
        if path:
            path[-1].children.append(node)
        elif root is not None:
            return root
        root = root or node
        path.append(node)
    return root


def _join_lines(lines: list[str]) -> Iterator[str]:
    """The lines of nodes, joined again where a literal contains a line break."""
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if "Statistics(sizeInBytes" in line:
            yield "\n".join(waiting)
            waiting = []
    if waiting and any(waiting):
        yield "\n".join(waiting)


def _walk(root: _Node) -> Iterator[_Node]:
    stack = [root]
    while stack:
        each = stack.pop()
        yield each
        stack += each.children


def _relation(text: str) -> tuple[TableName, Mapping[int, str]] | None:
    """The table that a leaf reads, and the table's columns by the ids of their attributes."""
    hive, v2, plain = _HIVE_RELATION.match(text), _V2_RELATION.match(text), _RELATION.match(text)
    if hive is not None:
        names, inside = _QUOTED.findall(hive[1]), text[hive.end() :]
    elif v2 is not None:
        names, inside = v2[2].split("."), v2[1]
    elif plain is not None:
        names, inside = plain[1].split("."), plain[2]
    else:
        return None
    if not 1 <= len(names) <= 3:
        return None
    try:
        table = table_of(names)
    except HmstatsError:
        return None
    return table, dict(_attributes(inside))


def _attributes(text: str) -> Iterator[tuple[int, str]]:
    """The ids and names of attributes in a list, in linear time: the list may contain long texts without attributes."""
    for part in _BETWEEN.split(text):
        start = 0
        for found in _NAMED_ID.finditer(part):
            yield int(found[1]), part[start : found.start()].rpartition("[")[2].strip().lower()
            start = found.end()


def _aliases(text: str) -> Iterator[tuple[int, int]]:
    """The new ids of attributes with their old ones, such as 7 and 2 of `price#2 AS cost#7`, in linear time."""
    for part in text.split(","):
        renamed = _RENAMED.search(part)
        while renamed is not None and (new := _NEW_ID.search(part, renamed.end())) is not None:
            yield int(new[1]), int(renamed[1])
            renamed = _RENAMED.search(part, new.end())


def _note_columns(node: _Node, columns: _Columns) -> None:
    if not node.text.startswith(("Filter ", "Join ")):
        columns.made.update(conditions.ids(node.text))
    relation = None if node.children else _relation(node.text)
    if relation is not None:
        table, names = relation
        columns.known |= {number: (table, name) for number, name in names.items()}
    elif node.text.startswith(("Project ", "Aggregate ")):
        columns.shared |= dict(_aliases(node.text))


def _operation(node: _Node, columns: _Columns) -> Operation:
    """The operation of a node; a node that does not change rows is represented by its input."""
    inputs = tuple(_operation(each, columns) for each in node.children)
    text, estimated = node.text, node.estimated
    if text.startswith("Filter "):
        uses = columns.use(conditions.used(columns.without_literals(text.removeprefix("Filter "))))
        return Operation(Operator.FILTER, estimated, None, uses, inputs)
    if (join := _JOIN_KINDS.match(text)) is not None:
        keys = conditions.ids(columns.without_literals(text[join.end() :]))
        return Operation(Operator.JOIN, estimated, None, columns.use((each, Use.JOIN) for each in keys), inputs)
    if (group := _AGGREGATE.match(text)) is not None:
        uses = columns.use((each, Use.GROUP) for each in conditions.ids(group[1]))
        return Operation(Operator.AGGREGATE, estimated, None, uses, inputs)
    if not inputs:
        relation = _relation(text)
        table = None if relation is None else relation[0]
        return Operation(Operator.SCAN, estimated, None, (), (), table)
    if len(inputs) > 1 or text.startswith(_SEPARATE):
        return Operation(Operator.OTHER, estimated, None, (), inputs)
    return inputs[0]

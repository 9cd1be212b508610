"""Converts the nodes of Trino's plans to operations.

A scan may filter and project too, and then has an estimate for each of these. An aggregation in two steps has its
groups in the last one. The filter of a scan has no usable number of rows if a dynamic filter may have removed some.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hmstats.learning.trino import predicates
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import DEFAULT_CATALOG, TableName
from hmstats.model.feedback.queries import ColumnUse, Operation, Operator, Use

MOST_DEPTH = 500
_ASSIGNED = re.compile(r"^\s*\"?([A-Za-z_][\w$]*)\"? := (.+)$")
_HIVE_COLUMN = re.compile(r"^([^:]+):.+:(?:REGULAR|PARTITION_KEY|SYNTHESIZED)$")
"""A column, its type and its kind. Names of Hive's columns contain no colon; types may contain several."""
_ICEBERG_COLUMN = re.compile(r"^\d+:([^:]+):")
_PLAIN_SYMBOL = re.compile(r"^\"?([A-Za-z_][\w$]*)\"?$")
_LIMITS = ("Limit", "LimitPartial", "DistinctLimit")
_WHOLE = ("TopN", "Sort", "Aggregate", "Window", "LocalMerge")
_PARTIAL = ("PARTIAL", "INTERMEDIATE")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a plan: its estimates in the order of its operations, and the rows that it read and returned.

    `details` are its lines of assignments. `named` are the parts of its descriptor.
    """

    name: str
    named: Mapping[str, str]
    details: tuple[str, ...] = ()
    estimates: tuple[float | None, ...] = ()
    rows_in: int | None = None
    rows: int | None = None
    children: tuple["Node", ...] = ()


@dataclass(slots=True)
class _Columns:
    """The column of a table behind each symbol.

    `grouped` are the ids of nodes whose rows are partial groups, which no estimate is about.
    """

    known: dict[str, tuple[TableName, str]] = field(default_factory=dict)
    grouped: set[int] = field(default_factory=set)

    def uses(self, wanted: Iterable[tuple[str, Use]]) -> tuple[ColumnUse, ...]:
        """The uses of columns by their symbols."""
        return tuple(ColumnUse(*self.known[symbol], use) for symbol, use in wanted if symbol in self.known)


def read_once(fragments: Iterable[str]) -> set[str]:
    """The fragments that others read. Raises ValueError if one is read twice, which never happens in Trino's plans.

    A few fragments that each read the next one twice would otherwise unfold to an enormous tree.
    """
    numbers = list(fragments)
    found = set(numbers)
    if len(found) < len(numbers):
        raise ValueError("a fragment of a plan must be read by one other at most")
    return found


def operations(root: Node) -> Operation:
    """The operations of a plan. Raises ValueError if the plan is too deep."""
    columns = _Columns()
    _note(root, columns, 0)
    return _operation(root, columns, cut=False)


def _note(node: Node, columns: _Columns, depth: int) -> None:
    """Collect the columns of all scans, their aliases, and the nodes with partial groups, from the leaves up."""
    if depth > MOST_DEPTH:
        raise ValueError(f"a plan must be at most {MOST_DEPTH} nodes deep")
    for each in node.children:
        _note(each, columns, depth + 1)
    if _is_grouped_in_part(node, columns):
        columns.grouped.add(id(node))
    table = _table(node)
    for line in node.details:
        assigned = _ASSIGNED.match(line)
        if assigned is None:
            continue
        symbol, value = assigned[1], assigned[2].strip()
        column = _HIVE_COLUMN.match(value) or _ICEBERG_COLUMN.match(value)
        other = _PLAIN_SYMBOL.match(value)
        if table is not None and column is not None:
            columns.known[symbol] = (table, column[1].lower())
        elif other is not None and other[1] in columns.known:
            columns.known[symbol] = columns.known[other[1]]


def _table(node: Node) -> TableName | None:
    """The table that a node scans, from `catalog:schema:table` and parts of the connector's own."""
    text = node.named.get("table", "").partition(" ")[0]
    names = text.split(":")
    if len(names) < 3 or not all(names[:3]):
        return None
    # Trino's catalogs have names of Trino's own; a metastore's objects are in the default catalog.
    return table_name(names[1], names[2].partition("$")[0], DEFAULT_CATALOG)


def _operation(node: Node, columns: _Columns, *, cut: bool) -> Operation:
    if node.name.startswith(("TableScan", "Scan")):
        return _scan(node, columns, cut=cut)
    below = cut or node.name in _LIMITS
    if node.name.startswith(_WHOLE):
        below = False
    inputs = tuple(_operation(each, columns, cut=below) for each in node.children)
    rows = None if cut or any(id(each) in columns.grouped for each in node.children) else node.rows
    estimated = node.estimates[0] if node.estimates else None
    known = columns.known
    if node.name.endswith("Join") or node.name == "SemiJoin":
        keys = predicates.symbols(" ".join(node.named.values()), known)
        return Operation(Operator.JOIN, estimated, rows, columns.uses((each, Use.JOIN) for each in keys), inputs)
    if node.name.startswith("Aggregate") and len(inputs) == 1:
        if node.named.get("type", "").startswith(_PARTIAL):
            return inputs[0]
        rows = None if cut else node.rows
        keys = predicates.symbols(node.named.get("keys", ""), known)
        return Operation(Operator.AGGREGATE, estimated, rows, columns.uses((each, Use.GROUP) for each in keys), inputs)
    if node.name.startswith("Filter") and len(inputs) == 1:
        uses = columns.uses(predicates.used(node.named.get("filterPredicate", ""), known))
        return Operation(Operator.FILTER, estimated, rows, uses, inputs)
    return inputs[0] if len(inputs) == 1 else Operation(Operator.OTHER, estimated, rows, (), inputs)


def _is_grouped_in_part(node: Node, columns: _Columns) -> bool:
    """Whether the rows of a node are partial groups; `columns` must already have those of the nodes below."""
    if node.name.startswith("Aggregate"):
        return node.named.get("type", "").startswith(_PARTIAL)
    return any(id(each) in columns.grouped for each in node.children)


def _scan(node: Node, columns: _Columns, *, cut: bool) -> Operation:
    predicate = node.named.get("filterPredicate", "")
    cut_off = "dynamicFilters" in node.named
    rows_in = node.rows_in if node.rows_in is not None else node.rows
    estimated = node.estimates[0] if node.estimates else None
    scan = Operation(
        Operator.SCAN,
        estimated,
        None if cut else rows_in,
        table=_table(node),
        at_least=bool(predicate) or cut_off,
    )
    if "Filter" not in node.name or not predicate or predicate == "true":
        return scan
    after = node.estimates[1] if len(node.estimates) > 1 else None
    uses = columns.uses(predicates.used(predicate, columns.known))
    return Operation(Operator.FILTER, after, None if cut or cut_off else node.rows, uses, (scan,))

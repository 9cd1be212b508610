"""The model's statistics <-> Arrow's, both directions side by side.

Numbers that are known to be exact are named so: all numbers of exact statistics, and all but the distinct count if
every row was read. Others are approximate, including numbers without a provenance. An approximate count is a floating
number, as the specification has it, and so good to 2^53.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import Column, TableName
from hmstats.model.statistics.column_statistics import (
    DATA_CLASSES,
    DEFAULT_ENGINE,
    ColumnStatistics,
    Data,
    Kind,
    StatisticsSet,
    known_ndv,
)
from hmstats.model.statistics.column_types import kind_of
from hmstats.model.statistics.provenance import Provenance
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import bounds, names
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.columns import Node, by_path, nodes, values_type
from hmstats.outlets.arrow.hive_types import arrow_schema, hive_type

_BYTES_TOOL = "hmstats "
"""The tools that give the lengths of strings in bytes; others may mean characters."""

_COUNTS = {
    "nulls": names.NULL_COUNT,
    "ndv": names.DISTINCT_COUNT,
    "max_length": names.MAX_BYTE_WIDTH,
    "trues": names.TRUE_COUNT,
    "falses": names.FALSE_COUNT,
}
_BOUNDS = {"high": names.MAX_VALUE, "low": names.MIN_VALUE}
_SKETCHES = {"bit_vector": names.BIT_VECTOR, "histogram": names.KLL_SKETCH}
_FIELDS: dict[type, tuple[str, ...]] = {
    record: tuple(field.name for field in fields(record)) for record in (*DATA_CLASSES.values(), Provenance)
}
_LENGTHS = ("max_length", "average_length")


class Fact(NamedTuple):
    """The value under a name without its variant; `exact` is the variant, None if the name had none."""

    value: Any
    type: pa.DataType
    exact: bool | None


Facts = Mapping[str, Fact]
"""All facts about one column, or about the whole."""
_NOTHING = Fact(None, pa.null(), None)


def from_model(found: TableStatistics) -> list[Statistic]:
    """The statistics of the whole, then those of each column. Raises InvalidInput when a type cannot be read.

    Statistics of a column that is none of `columns` are left out.
    """
    of_columns = {each.column.lower(): each for each in found.statistics.columns}
    numbered = _column_nodes(found.columns)
    tops = [node for node in numbered if node.top]
    made = list(_table_facts(found))
    for node, column in zip(tops, found.columns, strict=True):
        made += _describe_column(node, column)
    for path, node in by_path(numbered).items():
        if path.lower() in of_columns:
            made += of_column(node, of_columns[path.lower()])
    return sorted(made, key=lambda each: -1 if each.column is None else each.column)


def of_rows(rows: int | None, *, exact: bool) -> list[Statistic]:
    """The number of rows of the whole."""
    return [] if rows is None else [_count(None, names.ROW_COUNT, rows, exact=exact)]


def of_column(node: Node, column: ColumnStatistics) -> Iterator[Statistic]:
    """The statistics of a column, or of a part of one, in its place."""
    made = column.provenance or Provenance()
    all_rows = made.exact is True or made.sample_fraction == 1
    in_bytes = column.kind is not Kind.STRING or (made.tool or "").startswith(_BYTES_TOOL)
    for field, value in _known_fields(column.data):
        exact = all_rows and (field not in _LENGTHS or in_bytes)
        if field == "ndv" and known_ndv(column.data) is None:
            continue
        if field == "ndv":
            exact = made.exact is True or (all_rows and _ndv_follows(column.data))
        if field in _COUNTS:
            yield _count(node.number, _COUNTS[field], value, exact=exact)
        elif field in _BOUNDS:
            yield from _bound(node, _BOUNDS[field], value, column.kind, exact=exact)
        elif field in _SKETCHES:
            yield _binary(node.number, _SKETCHES[field], value)
        else:
            name = names.variant(names.AVERAGE_BYTE_WIDTH, exact=exact)
            yield Statistic(node.number, name, value, pa.float64())
    if column.top_k is not None:
        yield _binary(node.number, names.FREQUENT_ITEMS, column.top_k)
    for field, value in _known_fields(made):
        yield Statistic(node.number, names.PROVENANCE[field][0], value, names.PROVENANCE[field][1])


def _ndv_follows(data: Data) -> bool:
    """Whether a distinct count follows from other numbers: 0 without values, 1 if both bounds are one value.

    A float may be NaN besides, which is no bound.
    """
    ndv, low = getattr(data, "ndv", None), getattr(data, "low", None)
    one = low is not None and not isinstance(low, float) and low == getattr(data, "high", None)
    return ndv == 0 or (ndv == 1 and one)


def to_model(statistics: Iterable[Statistic], schema: pa.Schema | None = None) -> TableStatistics:
    """The model's statistics from an array's; names that the model lacks are left out.

    `schema` is that of the data, if the statistics do not name their columns.

    An exact value wins over an approximate one. Raises InvalidInput when the columns are not known.
    """
    facts: dict[int | None, dict[str, Fact]] = {None: {}}
    split = [(each, *names.split(each.name)) for each in statistics]
    for each, name, exact in sorted(split, key=lambda each: each[2] is True):
        facts.setdefault(each.column, {})[name] = Fact(each.value, each.type, exact)
    whole = facts[None]
    columns = _columns(facts, schema)
    numbered = _column_nodes(columns) if schema is None else nodes(schema)
    found = (_read_column(node, facts[node.number]) for node in numbered if node.number in facts)
    return TableStatistics(
        name=_table_name(whole),
        columns=columns,
        statistics=StatisticsSet(
            tuple(each for each in found if each is not None),
            _text(whole, names.PARTITION),
            _text(whole, names.ENGINE) or DEFAULT_ENGINE,
            _read_integer(whole, names.ANALYZED),
        ),
        rows=_read_integer(whole, names.ROW_COUNT),
        rows_exact=whole.get(names.ROW_COUNT, _NOTHING).exact is True,
    )


def _table_facts(found: TableStatistics) -> Iterator[Statistic]:
    yield from of_rows(found.rows, exact=found.rows_exact)
    texts = {names.PARTITION: found.statistics.partition, names.ENGINE: found.statistics.engine}
    if found.name is not None:
        place = {names.CATALOG: found.name.catalog, names.DATABASE: found.name.database, names.TABLE: found.name.table}
        texts = {**place, **texts}
    for name, text in texts.items():
        if text is not None:
            yield Statistic(None, name, text, pa.string())
    if found.statistics.last_analyzed_seconds is not None:
        yield Statistic(None, names.ANALYZED, found.statistics.last_analyzed_seconds, names.SECONDS)


def _describe_column(node: Node, column: Column) -> Iterator[Statistic]:
    yield Statistic(node.number, names.COLUMN_NAME, column.name, pa.string())
    yield Statistic(node.number, names.COLUMN_TYPE, column.type, pa.string())


@lru_cache(maxsize=64)  # the partitions of a table have its columns
def _column_nodes(columns: tuple[Column, ...]) -> tuple[Node, ...]:
    return nodes(arrow_schema(columns))


def _known_fields(record: Data | Provenance) -> Iterator[tuple[str, Any]]:
    for field in _FIELDS[type(record)]:
        value = getattr(record, field)
        if value is not None:
            yield field, value


def _count(column: int | None, name: str, value: int, *, exact: bool) -> Statistic:
    if exact:
        return Statistic(column, names.variant(name, exact=True), value, pa.int64())
    return Statistic(column, names.variant(name, exact=False), float(value), pa.float64())


def _bound(node: Node, name: str, value: Any, kind: Kind, *, exact: bool) -> Iterator[Statistic]:
    type_ = values_type(node.type)
    held = bounds.encode(value, type_)
    if held is not None:
        yield Statistic(node.number, names.variant(name, exact=exact and bounds.exactly(kind, type_)), *held)


def _binary(column: int, name: str, content: bytes) -> Statistic:
    return Statistic(column, names.variant(name, exact=False), content, pa.binary())


def _columns(facts: Mapping[int | None, Facts], schema: pa.Schema | None) -> tuple[Column, ...]:
    """The columns as the statistics name them, else as the schema does."""
    if schema is not None:
        return tuple(Column(field.name, hive_type(field.type)) for field in schema)
    numbered = sorted((number, held) for number, held in facts.items() if number is not None)
    named = [(_text(held, names.COLUMN_NAME), _text(held, names.COLUMN_TYPE)) for _, held in numbered]
    columns = tuple(Column(name, type_) for name, type_ in named if name is not None and type_ is not None)
    tops = [node.number for node in _column_nodes(columns) if node.top]
    found = [number for (number, _), (name, _) in zip(numbered, named, strict=True) if name is not None]
    if tops != found or (numbered and not columns):
        raise InvalidInput("statistics must name every column, or come with the schema of their data")
    return columns


def _read_column(node: Node, facts: Facts) -> ColumnStatistics | None:
    type_ = (_text(facts, names.COLUMN_TYPE) or hive_type(node.type)).lower()
    kind = kind_of(type_)
    if kind is None or not any(name in facts for name in _STATISTICS):
        return None
    data = DATA_CLASSES[kind](**_read_data(kind, facts))
    name = _text(facts, names.COLUMN_NAME) or node.path
    return ColumnStatistics(
        name.lower(),
        type_,
        data,
        _bytes(facts, names.FREQUENT_ITEMS),
        _read_provenance(facts) or _implied_provenance(facts),
    )


def _read_data(kind: Kind, facts: Facts) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in _FIELDS[DATA_CLASSES[kind]]:
        if field in _COUNTS:
            values[field] = _read_integer(facts, _COUNTS[field])
        elif field in _SKETCHES:
            values[field] = _bytes(facts, _SKETCHES[field])
        elif field in _BOUNDS:
            fact = facts.get(_BOUNDS[field], _NOTHING)
            values[field] = bounds.decode(kind, fact.value, fact.type, high=field == "high")
        else:
            values[field] = _read_float(facts, names.AVERAGE_BYTE_WIDTH)
    return values


def _read_provenance(facts: Facts) -> Provenance | None:
    known = {
        field: facts[name].value
        for field, (name, type_) in names.PROVENANCE.items()
        if name in facts and facts[name].type == type_
    }
    return Provenance(**known) if known else None


def _implied_provenance(facts: Facts) -> Provenance | None:
    """The provenance that a writer implies by naming all numbers, or all but the distinct count, exact."""
    said = {name: fact.exact for name, fact in facts.items() if name.startswith("ARROW:")}
    estimated = {name for name, exact in said.items() if not exact}
    if not estimated:
        return Provenance(exact=True) if said else None
    others = len(said) > 1 and estimated == {names.DISTINCT_COUNT}
    return Provenance(exact=False, sample_fraction=1.0) if others else None


def _table_name(facts: Facts) -> TableName | None:
    catalog, database, table = (_text(facts, name) for name in (names.CATALOG, names.DATABASE, names.TABLE))
    if catalog is None or database is None or table is None:
        return None
    return TableName(catalog, database, table)


def _text(facts: Facts, name: str) -> str | None:
    value = facts.get(name, _NOTHING).value
    return value if isinstance(value, str) else None


def _bytes(facts: Facts, name: str) -> bytes | None:
    value = facts.get(name, _NOTHING).value
    return value if isinstance(value, bytes) else None


def _read_float(facts: Facts, name: str) -> float | None:
    value = facts.get(name, _NOTHING).value
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def _read_integer(facts: Facts, name: str) -> int | None:
    """A count or a time; an estimate is rounded."""
    value = _read_float(facts, name)
    return None if value is None else round(value)


_STATISTICS: Sequence[str] = (
    *_COUNTS.values(),
    *_BOUNDS.values(),
    *_SKETCHES.values(),
    names.AVERAGE_BYTE_WIDTH,
    names.FREQUENT_ITEMS,
    *(name for name, _ in names.PROVENANCE.values()),
)
"""The names that say that a column has statistics."""

"""Statistics in the form of ADBC's GetStatistics (adbc.h, API revision 1.1.0): catalogs, schemas, statistics by key.

    catalog_name: utf8
    catalog_db_schemas: list<struct<db_schema_name: utf8, db_schema_statistics: list<struct<...> not null>> not null

A statistic has a key instead of a name, and a flag instead of a variant. Keys below 1024 are ADBC's; GetStatisticNames
has ours. ADBC knows no partitions, so these are the statistics of tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa

from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.table_statistics import TableStatistics
from hmstats.outlets.arrow import names
from hmstats.outlets.arrow.build import Statistic
from hmstats.outlets.arrow.columns import nodes
from hmstats.outlets.arrow.hive_types import arrow_schema
from hmstats.outlets.arrow.of_model import from_model

_STANDARD = (
    names.AVERAGE_BYTE_WIDTH,
    names.DISTINCT_COUNT,
    names.MAX_BYTE_WIDTH,
    names.MAX_VALUE,
    names.MIN_VALUE,
    names.NULL_COUNT,
    names.ROW_COUNT,
)
_FIRST_OWN_KEY = 1024
_OWN = (
    names.TRUE_COUNT,
    names.FALSE_COUNT,
    names.BIT_VECTOR,
    names.KLL_SKETCH,
    names.FREQUENT_ITEMS,
    names.ENGINE,
    names.ANALYZED,
    *(name for name, _ in names.PROVENANCE.values()),
)
"""A name's place is its key for good: new ones go to the end."""

KEYS = {name: key for key, name in enumerate(_STANDARD)} | {
    name: _FIRST_OWN_KEY + place for place, name in enumerate(_OWN)
}
"""Name without its variant to key."""

_MEMBERS = (pa.int64(), pa.uint64(), pa.float64(), pa.binary())
_MEMBER_NAMES = ["int64", "uint64", "float64", "binary"]
_INT64, _, _, _BINARY = range(len(_MEMBERS))
_VALUE = pa.dense_union([pa.field(name, member) for name, member in zip(_MEMBER_NAMES, _MEMBERS, strict=True)])
_STATISTIC = pa.struct(
    [
        pa.field("table_name", pa.string(), nullable=False),
        pa.field("column_name", pa.string()),
        pa.field("statistic_key", pa.int16(), nullable=False),
        pa.field("statistic_value", _VALUE, nullable=False),
        pa.field("statistic_is_approximate", pa.bool_(), nullable=False),
    ]
)
_DB_SCHEMA = pa.struct(
    [
        pa.field("db_schema_name", pa.string()),
        pa.field("db_schema_statistics", pa.list_(_STATISTIC), nullable=False),
    ]
)
STATISTICS_SCHEMA = pa.schema(
    [
        pa.field("catalog_name", pa.string()),
        pa.field("catalog_db_schemas", pa.list_(_DB_SCHEMA), nullable=False),
    ]
)
NAMES_SCHEMA = pa.schema(
    [
        pa.field("statistic_name", pa.string(), nullable=False),
        pa.field("statistic_key", pa.int16(), nullable=False),
    ]
)


class _Row(NamedTuple):
    """A statistic of a column (None: of the table), as GetStatistics lists it."""

    table: TableName
    column: str | None
    statistic: Statistic


def get_statistics(found: Iterable[TableStatistics]) -> pa.RecordBatch:
    """The statistics of tables; partitions and results are left out. Raises InvalidInput for a type's unreadable text.

    Dates are days, times and timestamps integers in their column's unit; texts and decimals are text in UTF-8.
    """
    tables = [each for each in found if each.name is not None and each.statistics.partition is None]
    rows = [row for each in sorted(tables, key=lambda each: str(each.name)) for row in _rows(each)]
    schemas = [(parent, len(list(group))) for parent, group in groupby(rows, attrgetter("table.parent"))]
    catalogs = [(catalog, len(list(group))) for catalog, group in groupby(schemas, lambda each: each[0].catalog)]
    statistics = pa.ListArray.from_arrays(_offsets(count for _, count in schemas), _statistics(rows))
    db_names = pa.array([parent.database for parent, _ in schemas], pa.string())
    held = pa.StructArray.from_arrays([db_names, statistics], fields=list(_DB_SCHEMA))
    lists = pa.ListArray.from_arrays(_offsets(count for _, count in catalogs), held)
    catalog_names = pa.array([catalog for catalog, _ in catalogs], pa.string())
    return pa.RecordBatch.from_arrays([catalog_names, lists], schema=STATISTICS_SCHEMA)


def get_statistic_names() -> pa.RecordBatch:
    """The names of the statistics that are ours, and their keys."""
    own = {name: key for name, key in KEYS.items() if key >= _FIRST_OWN_KEY}
    columns = [pa.array(list(own), pa.string()), pa.array(list(own.values()), pa.int16())]
    return pa.RecordBatch.from_arrays(columns, schema=NAMES_SCHEMA)


def _rows(found: TableStatistics) -> Iterator[_Row]:
    paths = {node.number: node.path for node in nodes(arrow_schema(found.columns))}
    for statistic in from_model(found):
        if found.name is not None and names.split(statistic.name)[0] in KEYS:
            column = None if statistic.column is None else paths[statistic.column]
            yield _Row(found.name, column, statistic)


def _offsets(counts: Iterable[int]) -> pa.Array:
    return pa.array([0, *accumulate(counts)], pa.int32())


def _statistics(rows: Sequence[_Row]) -> pa.StructArray:
    split = [names.split(row.statistic.name) for row in rows]
    columns = [
        pa.array([row.table.table for row in rows], pa.string()),
        pa.array([row.column for row in rows], pa.string()),
        pa.array([KEYS[name] for name, _ in split], pa.int16()),
        _union([_member(row.statistic) for row in rows]),
        pa.array([exact is False for _, exact in split], pa.bool_()),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(_STATISTIC))


def _union(values: Sequence[tuple[int, Any]]) -> pa.UnionArray:
    held: list[list[Any]] = [[] for _ in _MEMBERS]
    offsets = []
    for code, value in values:
        offsets.append(len(held[code]))
        held[code].append(value)
    children = [pa.array(each, member) for each, member in zip(held, _MEMBERS, strict=True)]
    codes = pa.array([code for code, _ in values], pa.int8())
    return pa.UnionArray.from_dense(codes, pa.array(offsets, pa.int32()), children, _MEMBER_NAMES)


def _member(statistic: Statistic) -> tuple[int, Any]:
    """The place of the union's member that holds a value, and the value there."""
    value, type_ = statistic.value, statistic.type
    if type_ in _MEMBERS:
        return _MEMBERS.index(type_), value
    if pa.types.is_string(type_) or pa.types.is_decimal(type_):
        return _BINARY, str(value).encode()
    return _INT64, int(value)

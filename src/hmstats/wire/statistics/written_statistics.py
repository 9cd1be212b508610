"""Requests to write column statistics, straight from their bytes to lists of values by field.

A request can hold thousands of objects, and making a struct for each would take most of the time. If a request is
unusual, merges, or has partitions with different columns, the result is None, and thriftpy2 must decode it. Format:
thrift/doc/specs/thrift-binary-protocol.md of Apache Thrift; field ids as in hive_metastore.thrift.
"""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hmstats.errors import MetastoreError
from hmstats.model.catalog.names import table_name
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import DEFAULT_ENGINE, Kind
from hmstats.model.statistics.statistics_by_field import SKETCHES, FieldValues, StatisticsByField
from hmstats.wire.statistics.decimals import decimal_of
from hmstats.wire.statistics.statistics_layouts import Layout, Unusual, layout_of, recent_layouts, require

_STOP, _BOOL, _I64, _STRING, _STRUCT, _LIST = 0, 2, 10, 11, 12, 15
_FIRST_STRUCT = b"\x0c\x00\x01"
"""The head of field 1, a struct, with which the arguments begin, and a set too."""
_OBJECTS, _COMPLIANT, _ENGINE = b"\x0f\x00\x02\x0c", b"\x02\x00\x03", b"\x0b\x00\x04"
"""The heads of the other fields of a set."""
_DESCRIPTION_FIELDS = {2: "database", 3: "table", 4: "partition", 6: "catalog"}
_UNKNOWN = -1

_short = struct.Struct(">h").unpack_from
_size = struct.Struct(">I").unpack_from
_elements = struct.Struct(">BI").unpack_from


class Written(NamedTuple):
    """The statistics of a request, and whether they are of the table itself."""

    table: TableName
    of_table: bool
    statistics: StatisticsByField


def of_request(message: bytes, body_at: int) -> Written | None:
    """The statistics in a call whose argument is a SetPartitionsStatsRequest; its arguments begin at `body_at`.

    None if thriftpy2 must decode them, or if the message is not exactly one request.
    """
    return _read_usual(_read_request, message, body_at)


def of_set(message: bytes, body_at: int) -> Written | None:
    """The statistics in a call whose argument is a ColumnStatistics; None if thriftpy2 must decode them."""
    return _read_usual(_read_single_set, message, body_at)


def _read_usual(read: Callable[[bytes, int], Written], message: bytes, body_at: int) -> Written | None:
    if not message.startswith(_FIRST_STRUCT, body_at):
        return None
    try:
        return read(message, body_at + len(_FIRST_STRUCT))
    except (Unusual, MetastoreError, struct.error, UnicodeDecodeError, IndexError):
        return None


def _read_single_set(message: bytes, at: int) -> Written:
    sets = _Sets(message)
    at = sets.read(at)
    require(message[at] == _STOP and at + 1 == len(message))
    return sets.all_statistics(None)


def _read_request(message: bytes, at: int) -> Written:
    sets, engine, seen = _Sets(message), None, set[int]()
    while message[at] != _STOP:
        field = (message[at], _short(message, at + 1)[0])
        require(field[1] not in seen)
        seen.add(field[1])
        at += 3
        if field == (_LIST, 1):
            at = sets.read_all(at)
        elif field == (_BOOL, 2):
            require(message[at] == 0)
            at += 1
        elif field == (_I64, 3):  # the write id, which only transactional tables use
            at += 8
        elif field == (_STRING, 5):
            engine, at = _text(message, at)
        else:
            raise Unusual
    require(message[at + 1] == _STOP and at + 2 == len(message))
    return sets.all_statistics(engine)


class _Description(NamedTuple):
    """The description of a set, and how many objects it has.

    The name of its partition stands between the bytes `before` and `behind`.
    """

    table: TableName
    of_table: bool
    objects: int
    before: bytes
    behind: bytes


class _Sets:
    """Reads sets one after the other, and tries the layouts of the previous set first."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._partitions: list[str | None] = []
        self._description: _Description | None = None
        self._layouts: list[Layout] = []
        self._layouts_read: list[Layout] = []
        self._rows: list[Sequence[Any]] = []
        self._tail: tuple[bytes, str | None] | None = None

    def read_all(self, at: int) -> int:
        """Read the list of ColumnStatistics at a position; returns the position after it."""
        kind, count = _elements(self._message, at)
        require(kind == _STRUCT)
        at += 5
        for _ in range(count):
            at = self.read(at)
        return at

    def read(self, at: int) -> int:
        """Read the ColumnStatistics at a position; returns the position after it."""
        return self._read_tail(self._read_objects(self._read_description(at)))

    def all_statistics(self, engine: str | None) -> Written:
        """All statistics that were read; `engine` is the request's."""
        description, tail, partitions = self._description, self._tail, self._partitions
        if description is None or tail is None:
            raise Unusual
        if description.of_table:
            require(len(partitions) == 1)
            partitions = [None]
        else:
            require(None not in partitions and len({*partitions}) == len(partitions))
        columns = [layout.column for layout in self._layouts]
        require(len({each.column for each in columns}) == len(columns))
        groups = list(_groups(self._layouts_read, self._rows))
        statistics = StatisticsByField(partitions, tail[1] or engine or DEFAULT_ENGINE, columns, groups)
        return Written(description.table, description.of_table, statistics)

    def _read_description(self, at: int) -> int:
        """Reads the bytes before the first object; returns the position after them."""
        message, previous = self._message, self._description
        if previous is not None and previous.before and message.startswith(previous.before, at):
            name, end = _text(message, at + len(previous.before))
            if message.startswith(previous.behind, end):
                self._partitions.append(name)
                return end + len(previous.behind)
        current, partition, at = _read_description(message, at)
        require(previous is None or current[:3] == previous[:3])
        self._description = current
        self._partitions.append(partition)
        return at

    def _read_objects(self, at: int) -> int:
        assert self._description is not None
        recent = recent_layouts(self._description.table)
        run = recent.run
        values_and_end = run.read(self._message, at) if run and len(run.layouts) == self._description.objects else None
        if run is not None and values_and_end is not None:
            require(not self._layouts or all(map(_of_same_column, run.layouts, self._layouts)))
            self._layouts = [*run.layouts]
            self._layouts_read += run.layouts
            self._rows += values_and_end[0]
            return values_and_end[1]
        at = self._read_one_by_one(at) if self._layouts else self._read_first_objects(at)
        recent.record(self._layouts)
        return at

    def _read_one_by_one(self, at: int) -> int:
        message, layouts, rows = self._message, self._layouts, self._rows
        for index, layout in enumerate(layouts):
            values_and_end = layout.parts.read(message, at)
            if values_and_end is None:
                other, values, at = layout_of(message, at)
                require(other.column == layout.column)
                layouts[index] = other
            else:
                values, at = values_and_end
            rows.append(values)
        self._layouts_read += layouts
        return at

    def _read_first_objects(self, at: int) -> int:
        assert self._description is not None
        for _ in range(self._description.objects):
            layout, values, at = layout_of(self._message, at)
            self._layouts.append(layout)
            self._rows.append(values)
        self._layouts_read += self._layouts
        return at

    def _read_tail(self, at: int) -> int:
        """Reads the bytes after the last object: whether the set is compliant, and its engine."""
        message = self._message
        if self._tail is not None and message.startswith(self._tail[0], at):
            return at + len(self._tail[0])
        start, engine = at, None
        if message.startswith(_COMPLIANT, at):
            at += 4
        if message.startswith(_ENGINE, at):
            engine, at = _text(message, at + 3)
        require(message[at] == _STOP and (self._tail is None or self._tail[1] == engine))
        self._tail = (message[start : at + 1], engine)
        return at + 1


def _of_same_column(one: Layout, other: Layout) -> bool:
    return one.column == other.column


def _text(message: bytes, at: int) -> tuple[str, int]:
    """The text at a position, and the position after it."""
    end = at + 4 + _size(message, at)[0]
    return message[at + 4 : end].decode(), end


def _read_description(message: bytes, start: int) -> tuple[_Description, str | None, int]:
    """The description at the beginning of a set, its partition, and the position of its first object."""
    require(message.startswith(_FIRST_STRUCT, start))
    at, seen, texts = start + 3, set[int](), dict[str, str]()
    of_table, name_at, name_end = False, start, start
    while message[at] != _STOP:
        kind, field_id = message[at], _short(message, at + 1)[0]
        require(field_id not in seen)
        seen.add(field_id)
        at += 3
        begin = at
        if kind == _STRING and field_id in _DESCRIPTION_FIELDS:
            texts[_DESCRIPTION_FIELDS[field_id]], at = _text(message, at)
            if _DESCRIPTION_FIELDS[field_id] == "partition":
                name_at, name_end = begin, at
        elif (kind, field_id) == (_BOOL, 1):
            of_table = message[at] != 0
            at += 1
        else:
            require((kind, field_id) == (_I64, 5))  # when they were analysed
            at += 8
    require("database" in texts and "table" in texts and message.startswith(_OBJECTS, at + 1))
    (count,) = _size(message, at + 5)
    require(0 < count < len(message))
    at += 9
    name = table_name(texts["database"], texts["table"], texts.get("catalog"))
    return _Description(name, of_table, count, message[start:name_at], message[name_end:at]), texts.get("partition"), at


def _groups(layouts: Sequence[Layout], rows: Sequence[Sequence[Any]]) -> Iterator[FieldValues]:
    """The values of objects, those with the same fields together; each object has its layout."""
    distinct = dict(zip(map(id, layouts), layouts, strict=True))
    shapes = {each: (layout.column.kind, layout.fields) for each, layout in distinct.items()}
    if len({*shapes.values()}) == 1:
        yield _group(layouts[0], range(len(rows)), rows)
        return
    indexes: dict[tuple[Kind, tuple[str, ...]], list[int]] = {shape: [] for shape in shapes.values()}
    for index, layout in enumerate(layouts):
        indexes[shapes[id(layout)]].append(index)
    for of_shape in indexes.values():
        yield _group(layouts[of_shape[0]], of_shape, [rows[index] for index in of_shape])


def _group(layout: Layout, indexes: Sequence[int], rows: Sequence[Sequence[Any]]) -> FieldValues:
    kind = layout.column.kind
    fields: dict[str, Sequence[Any]] = dict(zip(layout.fields, zip(*rows, strict=True), strict=True))
    if kind is Kind.DECIMAL:
        fields = _with_decimals(fields)
    values = {name: _without_sentinels(name, each) for name, each in fields.items()}
    if "trues" in values:
        # Impala before 3.4 writes 1 and -1: neither is a count then.
        falses = values.get("falses", [None] * len(rows))
        values["trues"] = [None if no is None else yes for yes, no in zip(values["trues"], falses, strict=True)]
    return FieldValues(kind, indexes, values)


def _with_decimals(fields: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    bounds = {}
    for bound in ("low", "high"):
        unscaled, scales = (fields.get(f"{bound} {part}", ()) for part in ("unscaled", "scale"))
        if unscaled:
            bounds[bound] = list(map(decimal_of, unscaled, scales))
    return {**bounds, **{name: values for name, values in fields.items() if " " not in name}}


def _without_sentinels(field: str, values: Sequence[Any]) -> Sequence[Any]:
    """The values of a field, with None for the sentinels of unknown values."""
    if field in ("low", "high"):
        return values
    if field in SKETCHES:
        return [value or None for value in values]
    return [None if value == _UNKNOWN else value for value in values] if _UNKNOWN in values else values

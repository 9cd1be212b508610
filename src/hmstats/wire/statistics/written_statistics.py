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
from hmstats.wire.statistics.statistics_layouts import Layout, Unusual, layout_of, repeated, require

_STOP, _BOOL, _I64, _STRING, _STRUCT, _LIST = 0, 2, 10, 11, 12, 15
_FIRST_STRUCT = b"\x0c\x00\x01"
"""The head of field 1, a struct, with which the arguments begin, and a set too."""
_OBJECTS, _COMPLIANT, _ENGINE = b"\x0f\x00\x02\x0c", b"\x02\x00\x03", b"\x0b\x00\x04"
"""The heads of the other fields of a set."""
_DESCRIBED = {2: "database", 3: "table", 4: "partition", 6: "catalog"}
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
    return _unless_unusual(_request, message, body_at)


def of_set(message: bytes, body_at: int) -> Written | None:
    """The statistics in a call whose argument is a ColumnStatistics; None if thriftpy2 must decode them."""
    return _unless_unusual(_only_set, message, body_at)


def _unless_unusual(read: Callable[[bytes, int], Written], message: bytes, body_at: int) -> Written | None:
    if not message.startswith(_FIRST_STRUCT, body_at):
        return None
    try:
        return read(message, body_at + len(_FIRST_STRUCT))
    except (Unusual, MetastoreError, struct.error, UnicodeDecodeError, IndexError):
        return None


def _only_set(message: bytes, at: int) -> Written:
    sets = _Sets(message)
    at = sets.read(at)
    require(message[at] == _STOP and at + 1 == len(message))
    return sets.written(None)


def _request(message: bytes, at: int) -> Written:
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
    return sets.written(engine)


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
        self._described: _Description | None = None
        self._layouts: list[Layout] = []
        self._seen: list[Layout] = []
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
        return self._pass_tail(self._read_objects(self._pass_description(at)))

    def written(self, engine: str | None) -> Written:
        """All statistics that were read; `engine` is the request's."""
        described, tail, partitions = self._described, self._tail, self._partitions
        if described is None or tail is None:
            raise Unusual
        if described.of_table:
            require(len(partitions) == 1)
            partitions = [None]
        else:
            require(None not in partitions and len({*partitions}) == len(partitions))
        columns = [layout.column for layout in self._layouts]
        require(len({each.column for each in columns}) == len(columns))
        groups = list(_groups(self._seen, self._rows))
        statistics = StatisticsByField(partitions, tail[1] or engine or DEFAULT_ENGINE, columns, groups)
        return Written(described.table, described.of_table, statistics)

    def _pass_description(self, at: int) -> int:
        """Reads the bytes before the first object; returns the position after them."""
        message, described = self._message, self._described
        if described is not None and described.before and message.startswith(described.before, at):
            name, end = _text(message, at + len(described.before))
            if message.startswith(described.behind, end):
                self._partitions.append(name)
                return end + len(described.behind)
        found, partition, at = _description(message, at)
        require(described is None or found[:3] == described[:3])
        self._described = found
        self._partitions.append(partition)
        return at

    def _read_objects(self, at: int) -> int:
        assert self._described is not None
        known = repeated(self._described.table)
        run = known.run
        found = run.taken(self._message, at) if run and len(run.layouts) == self._described.objects else None
        if run is not None and found is not None:
            require(not self._layouts or all(map(_of_same_column, run.layouts, self._layouts)))
            self._layouts = [*run.layouts]
            self._seen += run.layouts
            self._rows += found[0]
            return found[1]
        at = self._read_one_by_one(at) if self._layouts else self._read_first_objects(at)
        known.saw(self._layouts)
        return at

    def _read_one_by_one(self, at: int) -> int:
        message, layouts, rows = self._message, self._layouts, self._rows
        for place, layout in enumerate(layouts):
            found = layout.parts.taken(message, at)
            if found is None:
                layouts[place], values, at = layout_of(message, at)
                require(layouts[place].column == layout.column)  # noqa: PLR1736 - it is another now
            else:
                values, at = found
            rows.append(values)
        self._seen += layouts
        return at

    def _read_first_objects(self, at: int) -> int:
        assert self._described is not None
        for _ in range(self._described.objects):
            layout, values, at = layout_of(self._message, at)
            self._layouts.append(layout)
            self._rows.append(values)
        self._seen += self._layouts
        return at

    def _pass_tail(self, at: int) -> int:
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


def _description(message: bytes, start: int) -> tuple[_Description, str | None, int]:
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
        if kind == _STRING and field_id in _DESCRIBED:
            texts[_DESCRIBED[field_id]], at = _text(message, at)
            if _DESCRIBED[field_id] == "partition":
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
    different = dict(zip(map(id, layouts), layouts, strict=True))
    shapes = {each: (layout.column.kind, layout.fields) for each, layout in different.items()}
    if len({*shapes.values()}) == 1:
        yield _group(layouts[0], range(len(rows)), rows)
        return
    places: dict[tuple[Kind, tuple[str, ...]], list[int]] = {shape: [] for shape in shapes.values()}
    for place, layout in enumerate(layouts):
        places[shapes[id(layout)]].append(place)
    for of_shape in places.values():
        yield _group(layouts[of_shape[0]], of_shape, [rows[place] for place in of_shape])


def _group(layout: Layout, places: Sequence[int], rows: Sequence[Sequence[Any]]) -> FieldValues:
    kind = layout.column.kind
    found: dict[str, Sequence[Any]] = dict(zip(layout.fields, zip(*rows, strict=True), strict=True))
    if kind is Kind.DECIMAL:
        found = _with_decimals(found)
    values = {name: _known(name, each) for name, each in found.items()}
    if "trues" in values:
        # Impala before 3.4 writes 1 and -1: neither is a count then.
        falses = values.get("falses", [None] * len(rows))
        values["trues"] = [None if no is None else yes for yes, no in zip(values["trues"], falses, strict=True)]
    return FieldValues(kind, places, values)


def _with_decimals(found: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    bounds = {}
    for bound in ("low", "high"):
        unscaled, scales = (found.get(f"{bound} {part}", ()) for part in ("unscaled", "scale"))
        if unscaled:
            bounds[bound] = list(map(decimal_of, unscaled, scales))
    return {**bounds, **{name: values for name, values in found.items() if " " not in name}}


def _known(field: str, values: Sequence[Any]) -> Sequence[Any]:
    """The values of a field, with None for the sentinels of unknown values."""
    if field in ("low", "high"):
        return values
    if field in SKETCHES:
        return [value or None for value in values]
    return [None if value == _UNKNOWN else value for value in values] if _UNKNOWN in values else values

"""Hive's type text <-> Arrow's type, nested ones too: `map<string,array<decimal(12,2)>>`.

A type that Hive's text does not have becomes `void`, and a word that is no type of Hive becomes Arrow's null.
"""

import re
from collections.abc import Iterable

import pyarrow as pa

from hmstats.errors import InvalidInput
from hmstats.model.catalog.names import quote_name
from hmstats.model.catalog.objects import Column
from hmstats.outlets.arrow.columns import values_type

_MOST_DEPTH = 100
_UTC = pa.timestamp("us", "UTC")

_PLAIN: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "double precision": pa.float64(),
    "string": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp with local time zone": _UTC,
    "timestamp_ltz": _UTC,
    "interval_year_month": pa.month_day_nano_interval(),
    "interval_day_time": pa.month_day_nano_interval(),
}
_TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("boolean", ("is_boolean",)),
    ("tinyint", ("is_int8",)),
    ("smallint", ("is_int16", "is_uint8")),
    ("int", ("is_int32", "is_uint16")),
    ("bigint", ("is_int64", "is_uint32")),
    ("decimal(20,0)", ("is_uint64",)),
    ("float", ("is_float16", "is_float32")),
    ("double", ("is_float64",)),
    ("string", ("is_string", "is_large_string", "is_string_view")),
    ("binary", ("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")),
    ("date", ("is_date",)),
)
_LISTS = ("is_list", "is_large_list", "is_fixed_size_list", "is_list_view", "is_large_list_view")
_WORD = re.compile(r"[^<>(),:`]+")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_FIELD = re.compile(r"[^:`]+")
_ARGUMENTS = re.compile(r"\(([^()]*)\)")


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of a table's columns. Raises InvalidInput when the text of a type cannot be read."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a Hive type; timestamps are microseconds. Raises InvalidInput for text that cannot be read."""
    return _Reader(text).parse()


def hive_type(type_: pa.DataType) -> str:
    """The Hive type that holds an Arrow type's values, as text; `void` where there is none."""
    type_ = values_type(type_)
    if pa.types.is_decimal(type_) and type_.precision <= 38:
        return f"decimal({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_):
        return "timestamp with local time zone" if type_.tz else "timestamp"
    if pa.types.is_nested(type_):
        return _nested_text(type_)
    return next((text for text, checks in _TEXTS if _is_any(type_, checks)), "void")


def _nested_text(type_: pa.DataType) -> str:
    if pa.types.is_map(type_):
        return f"map<{hive_type(type_.key_type)},{hive_type(type_.item_type)}>"
    if pa.types.is_struct(type_):
        return f"struct<{','.join(f'{_name(each.name)}:{hive_type(each.type)}' for each in type_.fields)}>"
    if pa.types.is_union(type_):
        return f"uniontype<{','.join(hive_type(type_.field(each).type) for each in range(type_.num_fields))}>"
    return f"array<{hive_type(type_.value_type)}>" if _is_any(type_, _LISTS) else "void"


def _name(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else quote_name(text)


def _is_any(type_: pa.DataType, checks: Iterable[str]) -> bool:
    return any(getattr(pa.types, check)(type_) for check in checks)


class _Reader:
    """Reads one type's text from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self) -> pa.DataType:
        """The Arrow type of the whole text. Raises InvalidInput with the place where it cannot be read."""
        read = self._type(0)
        if self._at != len(self._text):
            raise self._wrong("its end")
        return read

    def _type(self, depth: int) -> pa.DataType:
        word = self._match(_WORD, "a name").strip().lower()
        if depth > _MOST_DEPTH:
            raise self._wrong(f"no more than {_MOST_DEPTH} types inside each other")
        if self._next("<"):
            return self._parse_nested(word, depth + 1)
        arguments = self._arguments()
        if arguments is not None and (zone := _WORD.match(self._text, self._at)):
            word = f"{word} {zone[0].strip().lower()}"  # timestamp(6) with local time zone
            self._at = zone.end()
        return self._decimal(arguments) if word == "decimal" else _PLAIN.get(word, pa.null())

    def _parse_nested(self, word: str, depth: int) -> pa.DataType:
        if word == "struct":
            return pa.struct(self._fields(depth))
        inner = [self._type(depth)]
        while self._next(","):
            inner.append(self._type(depth))
        self._expect(">")
        if word == "array" and len(inner) == 1:
            return pa.list_(inner[0])
        if word == "map" and len(inner) == 2:
            key = pa.binary() if pa.types.is_null(inner[0]) else inner[0]  # Arrow's keys are never null
            return pa.map_(key, inner[1])
        if word == "uniontype":
            return pa.dense_union([pa.field(f"tag_{tag}", each) for tag, each in enumerate(inner)])
        raise self._wrong(f"array, map, struct or uniontype, not {word} of {len(inner)} types")

    def _fields(self, depth: int) -> list[pa.Field]:
        fields: list[pa.Field] = []
        while not self._next(">"):
            if fields:
                self._expect(",")
            name = self._field_name()
            self._expect(":")
            fields.append(pa.field(name, self._type(depth)))
        return fields

    def _field_name(self) -> str:
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is None:
            return self._match(_FIELD, "a field's name").strip()
        self._at = quoted.end()
        return quoted[1].replace("``", "`")

    def _arguments(self) -> str | None:
        found = _ARGUMENTS.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[1]

    def _decimal(self, arguments: str | None) -> pa.DataType:
        """Hive's default is decimal(10,0)."""
        try:
            precision, _, scale = (arguments or "10").partition(",")
            return pa.decimal128(int(precision), int(scale or 0))
        except ValueError as error:
            raise self._wrong(f"a decimal of 1 to 38 digits ({error})") from error

    def _next(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._at)
        self._at += len(mark) if found else 0
        return found

    def _expect(self, mark: str) -> None:
        if not self._next(mark):
            raise self._wrong(repr(mark))

    def _match(self, pattern: re.Pattern[str], expected: str) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._wrong(expected)
        self._at = found.end()
        return found[0]

    def _wrong(self, expected: str) -> InvalidInput:
        return InvalidInput(f"a type must have {expected} at character {self._at}, found {self._text[:200]!r}")

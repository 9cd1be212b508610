"""Hive's type text and Arrow's types."""

import pyarrow as pa
import pytest
from hypothesis import given
from tests.outlets.types import HIVE_TYPES

from hmstats.errors import InvalidInput
from hmstats.model.catalog.objects import Column
from hmstats.outlets.arrow.hive_types import arrow_schema, arrow_type, hive_type


@given(HIVE_TYPES)
def test_text_comes_back(text: str) -> None:
    assert hive_type(arrow_type(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INTEGER", pa.int32()),
        ("decimal", pa.decimal128(10, 0)),
        ("decimal(12)", pa.decimal128(12, 0)),
        ("decimal( 12 , 3 )", pa.decimal128(12, 3)),
        ("varchar(20)", pa.string()),
        ("timestamp", pa.timestamp("us")),
        ("timestamp(9) with local time zone", pa.timestamp("us", "UTC")),
        ("map<string,array<decimal(12,2)>>", pa.map_(pa.string(), pa.list_(pa.decimal128(12, 2)))),
        ("struct< a :int,b:struct<c:date>>", pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.date32())]))])),
        ("struct<`a:b``c`:int>", pa.struct([("a:b`c", pa.int32())])),
        ("struct<>", pa.struct([])),
        ("map<geography,int>", pa.map_(pa.binary(), pa.int32())),
        ("geography", pa.null()),
    ],
)
def test_text_to_type(text: str, expected: pa.DataType) -> None:
    assert arrow_type(text) == expected


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (pa.uint8(), "smallint"),
        (pa.uint16(), "int"),
        (pa.uint32(), "bigint"),
        (pa.uint64(), "decimal(20,0)"),
        (pa.float16(), "float"),
        (pa.large_string(), "string"),
        (pa.binary(16), "binary"),
        (pa.date64(), "date"),
        (pa.timestamp("ns", "Europe/Berlin"), "timestamp with local time zone"),
        (pa.decimal256(76, 3), "void"),
        (pa.time32("s"), "void"),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.run_end_encoded(pa.int32(), pa.int64()), "bigint"),
        (pa.large_list(pa.int8()), "array<tinyint>"),
        (pa.list_(pa.int8(), 3), "array<tinyint>"),
        (pa.uuid(), "binary"),
        (pa.sparse_union([pa.field("x", pa.int8())]), "uniontype<tinyint>"),
    ],
)
def test_type_to_text(type_: pa.DataType, expected: str) -> None:
    assert hive_type(type_) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "array<",
        "array<int",
        "int>",
        "map<int>",
        "array<int,int>",
        "struct<a>",
        "struct<a:int,>",
        "struct<a:int b:int",
        "set<int>",
        "decimal(x)",
        "decimal(39,1)",
        "array<" * 101 + "int" + ">" * 101,
        "array<" * 50_000,
    ],
)
def test_text_that_cannot_be_read(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"a type must have .* at character"):
        arrow_type(text)


def test_a_schema_of_columns() -> None:
    columns = [Column("a", "int"), Column("b", "array<string>")]
    assert arrow_schema(columns) == pa.schema([("a", pa.int32()), ("b", pa.list_(pa.string()))])

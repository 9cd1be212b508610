"""The columns of tables that only Spark can read, from the JSON that Spark keeps among their parameters."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.model.catalog.objects import Column
from hmstats.model.spark.spark_schema import hive_type, schema_fields, spark_columns, with_defaults

STUB = [Column("col", "array<string>", "from deserializer")]


def field(name: str, type_: Any, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "nullable": True, "metadata": metadata}


def parameters(*fields: dict[str, Any], keys: tuple[str, ...] = (), provider: str = "csv") -> dict[str, str]:
    text = json.dumps({"type": "struct", "fields": list(fields)})
    named = {f"spark.sql.sources.schema.partCol.{place}": key for place, key in enumerate(keys)}
    count = {"spark.sql.sources.schema.numPartCols": str(len(keys))} if keys else {}
    return {"spark.sql.sources.provider": provider, "spark.sql.sources.schema": text, **named, **count}


def in_parts(whole: dict[str, str], size: int) -> dict[str, str]:
    text = whole.pop("spark.sql.sources.schema")
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    named = {f"spark.sql.sources.schema.part.{place}": part for place, part in enumerate(parts)}
    return {**whole, **named, "spark.sql.sources.schema.numParts": str(len(parts))}


@pytest.mark.parametrize(
    ("spark_type", "expected"),
    [
        ("byte", "tinyint"),
        ("short", "smallint"),
        ("integer", "int"),
        ("long", "bigint"),
        ("decimal(12,2)", "decimal(12,2)"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("interval day to second", "interval day to second"),
        ("variant", "variant"),
        ("void", "void"),
        ({"type": "array", "elementType": "long", "containsNull": True}, "array<bigint>"),
        ({"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True}, "map<string,int>"),
        (
            {"type": "struct", "fields": [field("X", "long"), field("y", {"type": "array", "elementType": "byte"})]},
            "struct<X:bigint,y:array<tinyint>>",
        ),
        ({"type": "udt", "class": "a.B", "sqlType": {"type": "array", "elementType": "double"}}, "array<double>"),
        ({"type": "of the future"}, "void"),
        (None, "void"),
    ],
)
def test_a_type_has_hives_name(spark_type: Any, expected: str) -> None:
    assert hive_type(spark_type) == expected


def test_the_stub_stands_for_sparks_columns() -> None:
    given = parameters(
        field("Id", "long", comment="who"),
        field("code", "string", __CHAR_VARCHAR_TYPE_STRING="char(5)"),
        field("Month", "integer"),
        keys=("Month",),
    )
    assert spark_columns(STUB, given) == (Column("id", "bigint", "who"), Column("code", "char(5)"))


@pytest.mark.parametrize("size", [1, 7, 4000])
def test_a_schema_in_parts_is_the_same(size: int) -> None:
    whole = parameters(*(field(f"column_{number}", "timestamp_ntz") for number in range(30)))
    assert spark_columns(STUB, in_parts(dict(whole), size)) == spark_columns(STUB, whole)
    assert len(spark_columns(STUB, whole)) == 30


def test_stored_columns_that_are_no_stub_stay() -> None:
    own = [Column("a", "int")]
    assert spark_columns(own, parameters(field("b", "long"))) == (Column("a", "int"),)


def test_a_view_of_sparks_has_no_provider() -> None:
    given = {key: text for key, text in parameters(field("b", "timestamp_ntz")).items() if "schema" in key}
    assert spark_columns(STUB, given) == (Column("b", "timestamp_ntz"),)


def test_hives_own_table_of_such_a_column_keeps_it() -> None:
    assert spark_columns(STUB, {}) == tuple(STUB)
    assert spark_columns(STUB, parameters(field("b", "long"), provider="hive")) == tuple(STUB)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"fields": 7}', '{"fields": [{"name": "a"}]}', '{"fields": ["a"]}', "[" * 100_000],
)
def test_a_schema_that_cannot_be_read_leaves_the_stored_columns(text: str) -> None:
    given = {"spark.sql.sources.provider": "csv", "spark.sql.sources.schema": text}
    assert spark_columns(STUB, given) == tuple(STUB)
    assert not with_defaults(given)


def test_a_schema_of_which_a_part_is_missing_leaves_the_stored_columns() -> None:
    given = in_parts(parameters(field("a", "long")), 10)
    del given["spark.sql.sources.schema.part.1"]
    assert spark_columns(STUB, given) == tuple(STUB)
    assert schema_fields(given) == []


def test_a_default_of_a_column_that_was_added_is_seen() -> None:
    assert with_defaults(parameters(field("a", "long"), field("b", "integer", EXISTS_DEFAULT="5")))
    assert not with_defaults(parameters(field("a", "long", CURRENT_DEFAULT="5")))


_KEYS = ["type", "fields", "name", "metadata", "elementType", "keyType", "valueType", "sqlType"]
_KINDS = st.sampled_from(["array", "map", "struct", "udt"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | _KINDS,
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(_KEYS), inner),
)


@given(_JSON)
def test_no_type_breaks_the_reader(value: Any) -> None:
    text = json.dumps({"fields": [{"name": "a", "type": value}]})
    given = {"spark.sql.sources.provider": "csv", "spark.sql.sources.schema": text}
    assert [type(each) for each in spark_columns(STUB, given)] == [Column]


@given(_JSON)
def test_no_json_breaks_the_reader(value: Any) -> None:
    given = {"spark.sql.sources.provider": "csv", "spark.sql.sources.schema": json.dumps({"fields": value})}
    assert all(isinstance(each, Column) for each in spark_columns(STUB, given))

"""The IDL against the facts: every struct, enum, exception and method of Hive 2.3 to 4.2, and nothing else.

tests/testdata/hms-wire.json has the facts; its `about` says where they are from.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import thriftpy2
from thriftpy2.thrift import TType

from hmstats.resources import folder
from hmstats.wire.idl import SERVICE, hive_metastore, methods

FACTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "testdata" / "hms-wire.json").read_text())
STRUCTS: dict[str, list[dict[str, Any]]] = {**FACTS["structs"], **FACTS["exceptions"]}
FB303 = thriftpy2.load(str(folder("thrift") / "fb303.thrift"), module_name="facts_fb303_thrift")

BASE_TYPES = {
    TType.BOOL: "bool",
    TType.BYTE: "byte",
    TType.I16: "i16",
    TType.I32: "i32",
    TType.I64: "i64",
    TType.DOUBLE: "double",
    TType.STRING: "string",
    TType.BINARY: "binary",
}
CONTAINERS = {TType.LIST: "list", TType.SET: "set"}


def type_name(kind: int, detail: Any) -> str:
    """A field's type as the facts write it."""
    if kind in BASE_TYPES:
        return BASE_TYPES[kind]
    if kind == TType.STRUCT:
        return str(detail.__name__)
    if kind == TType.MAP:
        return f"map<{_inner(detail[0])},{_inner(detail[1])}>"
    return f"{CONTAINERS[kind]}<{_inner(detail)}>"


def _inner(spec: Any) -> str:
    return type_name(spec, None) if isinstance(spec, int) else type_name(spec[0], spec[1])


def fields(struct: Any) -> dict[int, tuple[str, str, bool]]:
    """Id to name, type and whether it is required."""
    found = {}
    for number, spec in struct.thrift_spec.items():
        kind, name, required = spec[0], spec[1], spec[-1]
        found[number] = (name, type_name(kind, spec[2] if len(spec) == 4 else None), required)
    return found


def expected_fields(facts: list[dict[str, Any]]) -> dict[int, tuple[str, str, bool]]:
    return {each["id"]: (each["name"], each["type"], each.get("required", False)) for each in facts}


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_a_structs_fields_are_the_facts(name: str) -> None:
    assert fields(getattr(hive_metastore, name)) == expected_fields(STRUCTS[name])


@pytest.mark.parametrize("name", sorted(FACTS["enums"]))
def test_an_enums_values_are_the_facts(name: str) -> None:
    enum = getattr(hive_metastore, name)
    assert enum._NAMES_TO_VALUES == FACTS["enums"][name]


def test_nothing_is_missing_and_nothing_is_more() -> None:
    text = (folder("thrift") / "hive_metastore.thrift").read_text()
    defined = set(re.findall(r"^(?:struct|union|exception|enum) (\w+)", text, re.MULTILINE))
    assert defined == set(STRUCTS) | set(FACTS["enums"])
    assert set(re.findall(r"^union (\w+)", text, re.MULTILINE)) == set(FACTS["unions"])
    assert set(re.findall(r"^exception (\w+)", text, re.MULTILINE)) == set(FACTS["exceptions"])
    assert set(SERVICE.thrift_services) == set(FACTS["functions"]) | set(FACTS["fb303"])
    assert set(FB303.FacebookService.thrift_services) == set(FACTS["fb303"])


@pytest.mark.parametrize("name", sorted({**FACTS["functions"], **FACTS["fb303"]}))
def test_a_methods_arguments_answer_and_exceptions_are_the_facts(name: str) -> None:
    facts = {**FACTS["functions"], **FACTS["fb303"]}[name]
    method = methods()[name]
    # An argument has no requirement of its own in the facts.
    arguments = {number: found[:2] for number, found in fields(method.arguments).items()}
    assert arguments == {each["id"]: (each["name"], each["type"]) for each in facts["args"]}
    result = fields(method.result)
    answer = result.pop(0, (None, "void", False))[1]
    assert answer == facts["returns"]
    throws = {each["id"]: (each["name"], each["type"]) for each in facts.get("throws") or []}
    assert {number: found[:2] for number, found in result.items()} == throws
    assert method.oneway == bool(facts.get("oneway"))


def test_absent_and_default_engines_differ() -> None:
    """The facts have `hive` as a default; here only a client of the Hive 4 generation sends one."""
    assert hive_metastore.TableStatsRequest().engine is None
    assert hive_metastore.ColumnStatistics().engine is None


@pytest.mark.parametrize("name", sorted(name for name in STRUCTS if name.endswith("ColumnStatsData")))
def test_sketches_are_bytes(name: str) -> None:
    types = {field: kind for field, kind, _ in fields(getattr(hive_metastore, name)).values()}
    assert types.get("bitVectors", "binary") == "binary"
    assert types.get("histogram", "binary") == "binary"

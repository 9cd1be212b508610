"""The IDL against the facts: every struct, enum, exception and method of Hive 2.3 to 4.2, and nothing else.

tests/testdata/hms-wire.json has the facts; its `about` says where they are from. What thriftpy2 does not keep is
compared in the text: `optional`, the names of enums, and releases.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import thriftpy2
from thriftpy2.thrift import TType

from hmstats.errors import HmstatsError
from hmstats.resources import folder
from hmstats.wire.idl import SERVICE, hive_metastore, methods

FACTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "testdata" / "hms-wire.json").read_text())
STRUCTS: dict[str, list[dict[str, Any]]] = {**FACTS["structs"], **FACTS["exceptions"]}
METHODS: dict[str, dict[str, Any]] = {**FACTS["functions"], **FACTS["fb303"]}
SPANS: dict[str, dict[str, str]] = {
    **FACTS["spans"]["structs"],
    **FACTS["spans"]["exceptions"],
    **FACTS["spans"]["enums"],
}
TEXT = (folder("thrift") / "hive_metastore.thrift").read_text()
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


IF_EXISTS = (("DropCatalogRequest", "ifExists"), ("DropPartitionsRequest", "ifExists"))


def defaults(struct: Any) -> dict[str, Any]:
    """The value of each field in a new object, where it is not None."""
    return {name: value for name, value in struct.default_spec if value is not None}


def expected_defaults(name: str, facts: list[dict[str, Any]]) -> dict[str, Any]:
    """The facts' defaults, without those that differ on purpose: Hive asks whether they were sent."""
    found = {each["name"]: each["default"] for each in facts if "default" in each}
    return {field: value for field, value in found.items() if field != "engine" and (name, field) not in IF_EXISTS}


def notes(comment: str | None) -> dict[str, str]:
    """The enum and the releases that a comment names."""
    return dict(re.findall(r"\b(enum|since|until) (\S+?)(?:,|$)", comment or "", re.MULTILINE))


def expected_notes(facts: dict[str, Any]) -> dict[str, str]:
    return {key: facts[key] for key in ("enum", "since", "until") if facts.get(key)}


def definition(name: str) -> tuple[str, list[str]]:
    """The comment before a struct, exception or enum, and the lines in it."""
    found = re.search(rf"((?:^//.*\n)*)^(?:struct|union|exception|enum) {name} {{\n((?:  .*\n)*)}}", TEXT, re.MULTILINE)
    assert found is not None
    return found[1], found[2].splitlines()


def expected_fields(facts: list[dict[str, Any]]) -> dict[int, tuple[str, str, bool]]:
    return {each["id"]: (each["name"], each["type"], each.get("required", False)) for each in facts}


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_a_structs_fields_are_the_facts(name: str) -> None:
    struct = getattr(hive_metastore, name)
    assert fields(struct) == expected_fields(STRUCTS[name])
    assert defaults(struct) == expected_defaults(name, STRUCTS[name])


@pytest.mark.parametrize("name", sorted(STRUCTS))
def test_a_structs_text_says_what_is_optional_which_enum_and_which_releases(name: str) -> None:
    comment, lines = definition(name)
    found = {}
    for line in lines:
        parts = re.fullmatch(r"  (\d+): (required|optional)? ?[^/]*,(?:  // (.*))?", line)
        assert parts is not None, line
        found[int(parts[1])] = (parts[2] or "", notes(parts[3]))
    assert found == {
        each["id"]: (next((word for word in ("required", "optional") if each.get(word)), ""), expected_notes(each))
        for each in STRUCTS[name]
    }
    assert notes(comment) == expected_notes(SPANS.get(name, {}))


@pytest.mark.parametrize("name", sorted(FACTS["enums"]))
def test_an_enums_values_are_the_facts(name: str) -> None:
    enum = getattr(hive_metastore, name)
    assert enum._NAMES_TO_VALUES == FACTS["enums"][name]
    comment, lines = definition(name)
    assert notes(comment) == expected_notes(SPANS.get(name, {}))
    spans = FACTS["spans"]["enum_values"].get(name, {})
    assert {line.split()[0]: notes(line) for line in lines} == {
        value: expected_notes(spans.get(value, {})) for value in FACTS["enums"][name]
    }


def test_nothing_is_missing_and_nothing_is_more() -> None:
    defined = set(re.findall(r"^(?:struct|union|exception|enum) (\w+)", TEXT, re.MULTILINE))
    assert defined == set(STRUCTS) | set(FACTS["enums"])
    assert set(re.findall(r"^union (\w+)", TEXT, re.MULTILINE)) == set(FACTS["unions"])
    assert set(re.findall(r"^exception (\w+)", TEXT, re.MULTILINE)) == set(FACTS["exceptions"])
    assert set(SERVICE.thrift_services) == set(FACTS["functions"]) | set(FACTS["fb303"])
    assert set(FB303.FacebookService.thrift_services) == set(FACTS["fb303"])


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_methods_arguments_answer_and_exceptions_are_the_facts(name: str) -> None:
    facts = METHODS[name]
    method = methods()[name]
    # An argument has no requirement of its own in the facts.
    arguments = {number: found[:2] for number, found in fields(method.arguments).items()}
    assert arguments == {each["id"]: (each["name"], each["type"]) for each in facts["args"]}
    assert defaults(method.arguments) == expected_defaults(name, facts["args"])
    result = fields(method.result)
    answer = result.pop(0, (None, "void", False))[1]
    assert answer == facts["returns"]
    throws = {each["id"]: (each["name"], each["type"]) for each in facts.get("throws") or []}
    assert {number: found[:2] for number, found in result.items()} == throws
    assert {kind.__name__: field for kind, field in method.throws.items()} == {
        each["type"]: each["name"] for each in facts.get("throws") or []
    }
    assert method.oneway == bool(facts.get("oneway"))
    assert method.returns_value == (facts["returns"] != "void")


@pytest.mark.parametrize("name", sorted(FACTS["functions"]))
def test_a_methods_text_says_which_releases_have_it(name: str) -> None:
    found = re.search(rf"((?:^  //.*\n)*)^  [^\s/]\S* {name}\(", TEXT, re.MULTILINE)
    assert found is not None
    assert notes(found[1]) == expected_notes(FACTS["functions"][name])


def test_absent_and_default_engines_differ() -> None:
    """The facts have `hive` as a default; here only a client of the Hive 4 generation sends one."""
    assert hive_metastore.TableStatsRequest().engine is None
    assert hive_metastore.ColumnStatistics().engine is None


@pytest.mark.parametrize("name", sorted(name for name in STRUCTS if name.endswith("ColumnStatsData")))
def test_sketches_are_bytes(name: str) -> None:
    types = {field: kind for field, kind, _ in fields(getattr(hive_metastore, name)).values()}
    assert types.get("bitVectors", "binary") == "binary"
    assert types.get("histogram", "binary") == "binary"


def test_a_missing_folder_is_named_with_both_places() -> None:
    with pytest.raises(HmstatsError, match=r"nowhere is neither at .+/hmstats/nowhere nor at .+/nowhere: "):
        folder("nowhere")

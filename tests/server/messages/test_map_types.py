import struct
from typing import Any

import pytest
from hypothesis import given
from tests.server.requests import encoded, envelope, field
from tests.server.thrift_values import arguments

from hmstats.errors import ProtocolError
from hmstats.server.messages.map_types import check_maps
from hmstats.wire.idl import Method, methods
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.scanner import Scanner

STRING, STRUCT, MAP, LIST, I64 = 11, 12, 13, 15, 10
EMPTY = struct.pack(">i", 0)


def map_of(key: int, value: int, count: int, entries: bytes = b"") -> bytes:
    return struct.pack(">bbi", key, value, count) + entries


def create_table_with_privileges(privileges: bytes) -> bytes:
    """Arguments with a map where Table.privileges.userPrivileges, text to list of structs, belongs."""
    return field(STRUCT, 1) + field(STRUCT, 13) + field(MAP, 1) + privileges + b"\0\0\0"


def check(name: str, body: bytes) -> None:
    message = envelope(name, 1, 1, body)
    assert Scanner(bytearray(message), Allowance(10_000)).scan() == len(message)
    check_maps(methods()[name].arguments, message, len(message) - len(body))


@given(arguments())
def test_what_the_idl_says_passes(given_arguments: tuple[Method, Any]) -> None:
    method, value = given_arguments
    check(method.name, encoded(value))


@pytest.mark.parametrize(
    "privileges",
    [
        pytest.param(map_of(STRING, STRING, 1, EMPTY * 2), id="text for a list"),
        pytest.param(map_of(I64, STRING, 1, bytes(8) + EMPTY), id="text for a list behind another key"),
    ],
)
def test_text_for_another_type_is_refused(privileges: bytes) -> None:
    with pytest.raises(ProtocolError, match=r"must have types 11 and 15, found \d+ and 11"):
        check("create_table", create_table_with_privileges(privileges))


def test_a_text_for_a_key_that_is_no_text_is_refused() -> None:
    skewed = field(STRUCT, 1) + field(STRUCT, 7) + field(STRUCT, 11) + field(MAP, 3)
    with pytest.raises(ProtocolError, match="must have types 15 and 11"):
        check("create_table", skewed + map_of(STRING, STRING, 1, EMPTY * 2) + b"\0" * 4)


def test_maps_inside_lists_are_looked_at() -> None:
    partition = field(STRUCT, 8) + field(MAP, 1) + map_of(STRING, STRING, 1, EMPTY * 2) + b"\0\0"
    two = field(LIST, 1) + struct.pack(">bi", STRUCT, 2) + b"\0" + partition + b"\0"
    with pytest.raises(ProtocolError, match="must have types 11 and 15"):
        check("add_partitions", two)


@pytest.mark.parametrize(
    "privileges",
    [
        pytest.param(map_of(STRING, STRING, 0), id="an empty map"),
        pytest.param(map_of(STRING, I64, 2, (EMPTY + bytes(8)) * 2), id="numbers, which are skipped"),
        pytest.param(map_of(STRING, LIST, 1, EMPTY + struct.pack(">bi", I64, 0)), id="a list of something else"),
    ],
)
def test_what_is_skipped_as_thrift_does_passes(privileges: bytes) -> None:
    check("create_table", create_table_with_privileges(privileges))


def test_a_field_of_another_type_is_passed() -> None:
    check("create_table", field(MAP, 1) + map_of(STRING, STRING, 1, EMPTY * 2) + b"\0")

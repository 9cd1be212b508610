import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.requests import encoded, envelope, field, old_envelope, request
from tests.server.thrift_values import arguments

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.messages.encodings import BinaryEncoding
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.wire.idl import Method
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import CALL, ONEWAY, Head, read_head
from hmstats.wire.messages.scanner import MAX_DEPTH, Scanner, end_of_value

LIMIT = 1_000_000
STOP = b"\0"
BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
FIXED = {BOOL: 1, BYTE: 1, DOUBLE: 8, I16: 2, I32: 4, I64: 8}


def message(body: bytes) -> bytes:
    return envelope("m", 1, CALL, body)


def scan(data: bytes, limit: int = LIMIT) -> int | None:
    return Scanner(bytearray(data), Allowance(limit)).scan()


def text(value: bytes) -> bytes:
    return struct.pack(">i", len(value)) + value


def nested(depth: int) -> bytes:
    """Arguments in which structs go so deep, the arguments themselves included."""
    return field(STRUCT, 1) * (depth - 1) + STOP * depth


@given(arguments(), st.sampled_from([envelope, old_envelope]), st.binary(max_size=5))
@pytest.mark.slow
def test_a_message_is_whole_with_its_last_byte_and_not_before(
    given_arguments: tuple[Method, Any], wrap: Callable[..., bytes], behind: bytes
) -> None:
    method, value = given_arguments
    data = wrap(method.name, 7, CALL, encoded(value))
    inbox = bytearray()
    scanner = Scanner(inbox, Allowance(LIMIT))
    for byte in data[:-1]:
        inbox.append(byte)
        assert scanner.scan() is None
    inbox += data[-1:] + behind
    assert scanner.scan() == len(data)


@given(arguments(), st.lists(st.integers(1, 400), min_size=1))
def test_pieces_of_any_size_give_the_same_end(given_arguments: tuple[Method, Any], pieces: list[int]) -> None:
    method, value = given_arguments
    data = envelope(method.name, 7, ONEWAY, encoded(value))
    inbox, found, begin = bytearray(), None, 0
    scanner = Scanner(inbox, Allowance(LIMIT))
    while found is None:
        for size in pieces:
            inbox += data[begin : begin + size]
            begin += size
        found = scanner.scan()
    assert found == len(data)


@pytest.mark.parametrize("kind", FIXED)
def test_every_fixed_type_is_passed_as_field_element_and_entry(kind: int) -> None:
    one = bytes(FIXED[kind])
    body = (
        field(kind, 1)
        + one
        + field(LIST, 2)
        + struct.pack(">bi", kind, 3)
        + one * 3
        + field(SET, 3)
        + struct.pack(">bi", kind, 0)
        + field(MAP, 4)
        + struct.pack(">bbi", STRING, kind, 2)
        + (text(b"key") + one) * 2
        + field(MAP, 5)
        + struct.pack(">bbi", kind, STRING, 2)
        + (one + text(b"value")) * 2
        + field(MAP, 6)
        + struct.pack(">bbi", kind, kind, 5)
        + one * 10
        + STOP
    )
    data = message(body)
    assert scan(data) == len(data)
    assert all(scan(data[:end]) is None for end in range(len(data)))


def test_containers_inside_containers_are_passed() -> None:
    row = struct.pack(">bi", STRING, 2) + text(b"a") + text(b"bc")
    entry = text(b"k") + struct.pack(">bi", STRUCT, 2) + STOP + field(I32, 1) + bytes(4) + STOP
    body = (
        field(LIST, 1)
        + struct.pack(">bi", LIST, 2)
        + row * 2
        + field(MAP, 2)
        + struct.pack(">bbi", STRING, LIST, 3)
        + entry * 3
        + STOP
    )
    data = message(body)
    assert scan(data + b"more") == len(data)
    assert all(scan(data[:end]) is None for end in range(len(data)))


@pytest.mark.parametrize("code", sorted(set(range(1, 256)) - set(FIXED) - {STRING, STRUCT, MAP, SET, LIST}))
def test_a_type_code_that_thrift_does_not_have_is_refused(code: int) -> None:
    kind = struct.pack(">B", code)
    for body in (
        kind + b"\0\1",
        field(LIST, 1) + kind + struct.pack(">i", 1),
        field(SET, 1) + kind + struct.pack(">i", 1),
        field(MAP, 1) + kind + struct.pack(">bi", STRING, 1),
        field(MAP, 1) + struct.pack(">b", STRING) + kind + struct.pack(">i", 1),
    ):
        with pytest.raises(ProtocolError, match=f"found {code} "):
            scan(message(body))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(field(STRING, 1) + struct.pack(">i", -1) + STOP, id="negative text"),
        pytest.param(field(STRING, 1) + struct.pack(">i", -(2**31)), id="most negative text"),
        pytest.param(field(STRING, 1) + struct.pack(">i", LIMIT), id="text above the limit"),
        pytest.param(field(LIST, 1) + struct.pack(">bi", STRUCT, -1), id="negative list"),
        pytest.param(field(LIST, 1) + struct.pack(">bi", STRUCT, LIMIT), id="structs above the limit"),
        pytest.param(field(LIST, 1) + struct.pack(">bi", I64, LIMIT // 8), id="numbers above the limit"),
        pytest.param(field(SET, 1) + struct.pack(">bi", STRING, LIMIT // 4), id="texts above the limit"),
        pytest.param(field(MAP, 1) + struct.pack(">bbi", STRING, LIST, LIMIT // 9), id="entries above the limit"),
        pytest.param(field(MAP, 1) + struct.pack(">bbi", I32, I32, -5), id="negative map"),
    ],
)
def test_an_impossible_size_is_refused_before_its_bytes_come(body: bytes) -> None:
    with pytest.raises(MessageTooLarge, match=f"may have {LIMIT} bytes"):
        scan(message(body))


def test_the_limit_is_the_largest_message() -> None:
    data = request("getOption", key="x" * 1000)
    assert scan(data, len(data)) == len(data)
    with pytest.raises(MessageTooLarge, match=f"may have {len(data) - 1} bytes, found one of at least {len(data)}"):
        scan(data, len(data) - 1)


def test_no_limit_lets_a_negative_size_pass() -> None:
    with pytest.raises(MessageTooLarge):
        scan(message(field(STRING, 1) + struct.pack(">i", -1)), 2**40)


def test_values_are_nested_as_deep_as_decoders_go() -> None:
    data = message(nested(MAX_DEPTH))
    assert scan(data) == len(data)
    with pytest.raises(ProtocolError, match="64 deep"):
        scan(message(nested(MAX_DEPTH + 1)))
    with pytest.raises(ProtocolError, match="64 deep"):
        scan(message(field(LIST, 1) + struct.pack(">bi", LIST, 1) * 100))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="http"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00", id="tls"),
        pytest.param(b"\x82\x21\x01\x04name", id="compact"),
        pytest.param(struct.pack(">I", 0x80020001), id="another version"),
        pytest.param(struct.pack(">Ii", 0x80010001, -1), id="negative name"),
        pytest.param(struct.pack(">Ii", 0x80010001, 0), id="no name"),
        pytest.param(struct.pack(">Ii", 0x80010001, 257), id="long name"),
        pytest.param(envelope("m", 1, 2, STOP), id="a reply"),
        pytest.param(envelope("m", 1, 3, STOP), id="an exception"),
        pytest.param(old_envelope("m", 1, 2, STOP), id="an old reply"),
        pytest.param(struct.pack(">Ii2si", 0x80010001, 2, b"\xff\xfe", 1) + STOP, id="a name that is no text"),
    ],
)
def test_what_begins_no_request_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        scan(data)


@given(st.binary(max_size=200))
def test_garbage_raises_nothing_but_protocol_errors(data: bytes) -> None:
    for candidate in (data, envelope("getOption", 1, CALL, data)):
        try:
            size = scan(candidate, 10_000)
        except ProtocolError:
            continue
        assert size is None or 0 < size <= len(candidate)


@pytest.mark.slow
@settings(max_examples=300)
@given(arguments(), st.data())
def test_a_damaged_message_is_refused_or_decoded_and_nothing_else(
    given_arguments: tuple[Method, Any], data: st.DataObject
) -> None:
    method, value = given_arguments
    damaged = bytearray(envelope(method.name, 7, CALL, encoded(value)))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        size = scan(bytes(damaged), 10_000)
        head = read_head(damaged)
        if size is not None and head is not None:
            decode_arguments(method, bytes(damaged[:size]), head.body_at)
    except ProtocolError:
        pass


class CountingBytes(bytearray):
    """Counts how often a byte is looked at."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)


def test_bytes_that_drip_are_looked_at_once() -> None:
    data = request("set_ugi", user_name="x" * 2000, group_names=["group"] * 300)
    inbox = CountingBytes()
    scanner = Scanner(inbox, Allowance(LIMIT))
    found = None
    for byte in data:
        inbox.append(byte)
        found = scanner.scan()
    assert found == len(data)
    assert inbox.looks < 2 * len(data)


def test_the_end_of_a_value_in_a_message() -> None:
    data = b"??" + text(b"abc") + b"!!"
    assert end_of_value(data, STRING, 2) == 9
    assert end_of_value(data, I16, 0) == 2
    with pytest.raises(ProtocolError, match="must end within"):
        end_of_value(data, STRING, 9)


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_lists_that_come_again_are_passed_as_the_first_was(step: int) -> None:
    """As partitions have their table's columns, again and again; now and then there is one that only begins alike."""
    columns, longer, other = (
        element_list(STRUCT, [field(STRING, 1) + text(name.encode()) + STOP for name in names])
        for names in (("a", "b"), ("a", "b", "c"), ("a", "x"))
    )
    parts = [
        field(STRING, 1) + text(str(number).encode()) + field(LIST, 2) + each + STOP
        for number, each in enumerate((columns, columns, longer, columns, other, other, columns))
    ]
    data = message(field(LIST, 1) + element_list(STRUCT, parts) + STOP)
    inbox = bytearray()
    scanner = Scanner(inbox, Allowance(10_000))
    for start in range(0, len(data), step):
        assert scanner.scan() is None
        inbox += data[start : start + step]
    assert scanner.scan() == len(data)


def element_list(kind: int, elements: list[bytes]) -> bytes:
    return struct.pack(">bi", kind, len(elements)) + b"".join(elements)


def test_what_is_known_to_be_whole_is_not_scanned_unless_it_is_too_large() -> None:
    data = message(STOP)
    looked_at, whole = [], Request(data, Head("getName", CALL, 1, 0))

    def recognise(inbox: bytearray) -> Request:
        looked_at.append(bytes(inbox))
        return whole

    for limit in (len(data), len(data) - 1):
        inbox = bytearray(data)
        encoding = BinaryEncoding(Allowance(limit), recognise)
        if limit < len(data):
            with pytest.raises(MessageTooLarge):
                encoding.take_request(inbox)
        else:
            assert encoding.take_request(inbox) is whole
            assert not inbox
    assert looked_at == [data]


@pytest.mark.parametrize("second", ["the same", "longer", "shorter", "other values"])
def test_a_list_like_the_last_one_may_come_in_two_parts(second: str) -> None:
    def columns(names: list[str]) -> bytes:
        return field(LIST, 1) + struct.pack(">BI", STRUCT, len(names)) + b"".join(map(column, names)) + STOP

    def column(name: str) -> bytes:
        return field(STRING, 1) + text(name.encode()) + STOP

    names = ["a", "bb", "ccc"]
    others = {"the same": names, "longer": [*names, "d"], "shorter": names[:2], "other values": ["a", "bb", "cdc"]}
    elements = [columns(names), columns(names), columns(others[second]), columns(names)]
    data = message(field(LIST, 1) + struct.pack(">BI", STRUCT, len(elements)) + b"".join(elements) + STOP)
    for cut in range(1, len(data)):
        inbox = bytearray(data[:cut])
        scanner = Scanner(inbox, Allowance(LIMIT))
        assert scanner.scan() is None, cut
        inbox += data[cut:]
        assert scanner.scan() == len(data), cut

"""The compact protocol against two of its writers and readers: thriftpy2's, and Apache's own in the last test."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.requests import encoded, envelope, field, request
from tests.server.thrift_values import arguments
from thriftpy2.protocol.compact import TCompactProtocol
from thriftpy2.transport import TMemoryBuffer

from hmstats.errors import MessageTooLarge, ProtocolError
from hmstats.server.messages.compact_reader import CompactReader
from hmstats.server.messages.compact_writer import to_compact
from hmstats.server.messages.struct_codec import decode_arguments
from hmstats.wire.idl import Method, hive_metastore, methods
from hmstats.wire.messages.allowance import Allowance
from hmstats.wire.messages.envelope import CALL, ONEWAY, REPLY, read_head

LIMIT = 10_000_000
HEAD = b"\x82\x21\x01\x04name"


def compact(name: str, sequence: int, kind: int, value: Any) -> bytes:
    """A message as thriftpy2 writes it."""
    buffer = TMemoryBuffer()
    protocol = TCompactProtocol(buffer)
    protocol.write_message_begin(name, kind, sequence)
    protocol.write_struct(value)
    protocol.write_message_end()
    written: bytes = buffer.getvalue()
    return written


def read(data: bytes, limit: int = LIMIT) -> bytes | None:
    return CompactReader(bytearray(data), Allowance(limit)).read()


def decoded(message: bytes | None, method: Method) -> dict[str, Any]:
    assert message is not None
    head = read_head(message)
    assert head is not None
    return decode_arguments(method, message, head.body_at)


@given(arguments(), st.integers(0, 2**31 - 1), st.sampled_from((CALL, ONEWAY)))
def test_a_request_says_the_same_in_binary_form(asked: tuple[Method, Any], sequence: int, kind: int) -> None:
    method, value = asked
    data = compact(method.name, sequence, kind, value)
    reader = CompactReader(bytearray(data), Allowance(LIMIT))
    message = reader.read()
    assert reader.size == len(data)
    assert message is not None
    head = read_head(message)
    assert head == reader.head
    assert head is not None
    assert (head.name, head.kind, head.sequence) == (method.name, kind, sequence)
    assert decoded(message, method) == decoded(request(method.name, **vars(value)), method)


@given(arguments(), st.data())
def test_it_is_the_same_however_it_is_cut(asked: tuple[Method, Any], data: st.DataObject) -> None:
    method, value = asked
    whole = compact(method.name, 1, CALL, value)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=20)))
    inbox = bytearray()
    reader = CompactReader(inbox, Allowance(LIMIT))
    for start, end in zip([0, *cuts], cuts, strict=False):
        inbox += whole[start:end]
        assert reader.read() is None
    inbox += whole[len(inbox) :] + b"the next one"
    assert reader.read() == read(whole)
    assert reader.size == len(whole)


@given(arguments(), st.integers(-(2**31), 2**31 - 1))
def test_what_is_written_is_read_as_the_same(asked: tuple[Method, Any], sequence: int) -> None:
    method, value = asked
    message = envelope(method.name, sequence, CALL, encoded(value))
    written = to_compact(message)
    assert decoded(read(written), method) == decoded(message, method)
    assert (head := CompactReader(bytearray(written), Allowance(LIMIT))).read()
    assert head.head is not None
    assert head.head.sequence == sequence


@given(arguments())
def test_thriftpy2_reads_what_is_written(asked: tuple[Method, Any]) -> None:
    method, value = asked
    protocol = TCompactProtocol(TMemoryBuffer(to_compact(envelope(method.name, 7, REPLY, encoded(value)))))
    assert protocol.read_message_begin() == (method.name, REPLY, 7)
    found = method.arguments()
    protocol.read_struct(found)
    assert vars(found) == decoded(request(method.name, **vars(value)), method)


@given(arguments(), st.data())
def test_bytes_that_were_changed_are_a_message_or_a_protocol_error(
    asked: tuple[Method, Any], data: st.DataObject
) -> None:
    method, value = asked
    changed = bytearray(compact(method.name, 1, CALL, value))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        message = read(bytes(changed))
        if message is not None and (head := read_head(message)) is not None and head.name == method.name:
            decoded(message, method)
    except ProtocolError:
        pass


def test_every_type_in_a_field_and_in_a_list() -> None:
    """Lists of what the API has no lists of, byte by byte, in both directions."""
    small = field(3, 1) + b"\xfe" + field(6, 20) + struct.pack(">h", -300) + field(4, 21) + struct.pack(">d", -2.5)
    lists = b"".join(
        field(15, number) + struct.pack(">bI", kind, 2) + 2 * value
        for number, kind, value in (
            (30, 2, b"\1"),
            (31, 3, b"\x80"),
            (32, 6, b"\x7f\xff"),
            (33, 8, b"\x80\0\0\0"),
            (34, 10, b"\x80" + bytes(7)),
            (35, 4, struct.pack(">d", 1e300)),
            (36, 12, field(2, 1) + b"\0\0"),
            (37, 15, struct.pack(">bI", 2, 16) + b"\1\0" * 8),
            (38, 13, struct.pack(">bbI", 2, 3, 1) + b"\1\x05"),
        )
    )
    message = envelope("name", 1, CALL, small + field(2, -5) + b"\1" + lists + b"\0")
    assert read(to_compact(message)) == message


@given(st.sampled_from((6, 8, 10)), st.data())
def test_lists_of_integers_short_and_long_however_they_are_cut(kind: int, data: st.DataObject) -> None:
    bits = {6: 16, 8: 32, 10: 64}[kind]
    number = st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    values = data.draw(st.lists(number, max_size=5) | st.lists(number, min_size=60, max_size=70))
    packed = b"".join(each.to_bytes(bits // 8, signed=True) for each in values)
    message = envelope("name", 1, CALL, field(15, 1) + struct.pack(">bI", kind, len(values)) + packed + b"\0")
    whole = to_compact(message)
    cut = data.draw(st.integers(1, len(whole) - 1))
    inbox = bytearray(whole[:cut])
    reader = CompactReader(inbox, Allowance(LIMIT))
    assert reader.read() is None
    inbox += whole[cut:]
    assert reader.read() == message


@pytest.mark.parametrize("count", [1, 63, 64, 100])
def test_an_integer_of_a_list_that_does_not_fit(count: int) -> None:
    whole = HEAD + b"\x19\xf4" + bytes([count]) + bytes(count - 1) + b"\x80\x80\x04\0"
    with pytest.raises(ProtocolError, match="does not fit its type"):
        read(whole)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"\x81\x21", "found 0x8121"),
        (b"\x82\x22", "found 0x8222"),
        (b"\x82\x41", "message type 1 or 4, found 2"),
        (b"\x82\x21\x01\x00", "1 to 256 bytes, found 0"),
        (b"\x82\x21\x01\x01\xff", "must be UTF-8"),
        (b"\x82\x21" + b"\xff" * 10, "may have 10 bytes"),
        (HEAD + b"\x1d", "found 13"),
        (HEAD + b"\x19\x1f", "found 15"),
        (HEAD + b"\x14\xff\xff\xff\x7f", "does not fit"),
        (HEAD + b"\x1c" * 64, "64 deep"),
    ],
)
def test_what_is_no_message(data: bytes, found: str) -> None:
    with pytest.raises(ProtocolError, match=found):
        read(data)


def test_structs_as_deep_as_may_be() -> None:
    deep = HEAD + b"\x1c" * 63
    assert read(deep) is None
    assert read(deep + bytes(64)) is not None


@pytest.mark.parametrize("size", [b"\x18\xe9\x07", b"\x19\xf8\xe9\x07", b"\x1b\xe9\x07"])
def test_what_is_too_large_is_refused_before_it_has_come(size: bytes) -> None:
    with pytest.raises(MessageTooLarge, match="may have 1000 bytes, found one of at least"):
        read(HEAD + size, 1_000)


def test_what_grows_too_large_in_binary_form_is_refused() -> None:
    many = HEAD + b"\x19\xf6\xe8\x07" + bytes(1_000) + b"\0"
    assert read(many, 9_000) is not None
    with pytest.raises(MessageTooLarge):
        read(many, 8_000)


def test_apaches_own_protocol_reads_and_writes_the_same() -> None:
    from pymetastore.hive_metastore import ttypes
    from thrift.protocol.TCompactProtocol import TCompactProtocol as ApacheProtocol
    from thrift.transport.TTransport import TMemoryBuffer as ApacheBuffer

    table = hive_metastore.Table(
        tableName="t",
        createTime=-5,
        parameters={"a": "b"},
        partitionKeys=[hive_metastore.FieldSchema(name=f"k{number}", type="string") for number in range(20)],
        temporary=True,
        privileges=None,
    )
    message = envelope("create_table", -1, CALL, encoded(methods()["create_table"].arguments(tbl=table)))
    apache = ApacheProtocol(ApacheBuffer(to_compact(message)))
    name, kind, sequence = apache.readMessageBegin()
    assert (name, kind, sequence & 0xFFFFFFFF) == ("create_table", CALL, 0xFFFFFFFF)
    apache.readStructBegin()
    assert apache.readFieldBegin()[1:] == (12, 1)
    found = ttypes.Table()
    found.read(apache)
    assert (found.tableName, found.createTime, found.temporary, len(found.partitionKeys)) == ("t", -5, True, 20)
    back = ApacheBuffer()
    found.write(ApacheProtocol(back))
    reread = HEAD + b"\x1c" + back.getvalue() + b"\0"
    binary = read(reread)
    assert binary is not None
    assert decoded(binary, methods()["create_table"])["tbl"].parameters == {"a": "b"}

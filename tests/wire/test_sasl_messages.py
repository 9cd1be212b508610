"""SASL's messages and frames, however their bytes are split."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import MessageTooLarge
from hmstats.wire.sasl_messages import Frames, Message, Status, begins_sasl, framed, take_message

messages = st.builds(Message, st.integers(0, 255), st.binary(max_size=50))


def split(data: bytes, at: list[int]) -> list[bytes]:
    ends = [*sorted(each % (len(data) + 1) for each in at), len(data)]
    return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@given(st.lists(messages, max_size=4), st.lists(st.integers(0, 1_000)))
def test_messages_are_read_from_any_pieces(sent: list[Message], at: list[int]) -> None:
    inbox, read = bytearray(), []
    for piece in split(b"".join(each.encoded for each in sent), at):
        inbox += piece
        while (message := take_message(inbox)) is not None:
            read.append(message)
    assert read == sent
    assert not inbox


@given(st.lists(st.binary(max_size=50), max_size=5), st.lists(st.integers(0, 1_000)))
def test_frames_are_read_from_any_pieces(sent: list[bytes], at: list[int]) -> None:
    frames, whole_frames = Frames(50, whole=False), Frames(50, whole=True)
    streamed, collected = b"", []
    for piece in split(b"".join(map(framed, sent)), at):
        streamed += b"".join(frames.put(piece))
        collected += list(whole_frames.put(piece))
    assert streamed == b"".join(sent)
    assert collected == [each for each in sent if each]
    assert frames.held_bytes == whole_frames.held_bytes == 0


def test_a_part_of_a_protected_frame_is_held_and_one_of_a_plain_frame_given() -> None:
    frames, whole_frames = Frames(50, whole=False), Frames(50, whole=True)
    part = framed(b"0123456789")[:9]
    assert (list(frames.put(part)), frames.held_bytes) == ([b"01234"], 0)
    assert (list(whole_frames.put(part)), whole_frames.held_bytes) == ([], 5)


@pytest.mark.parametrize("size", [51, 2**31 - 1, 2**31, 2**32 - 1])
def test_a_frame_beyond_the_limit_is_refused_by_its_length(size: int) -> None:
    with pytest.raises(MessageTooLarge, match=f"a SASL frame may have 50 bytes, found one of {size}"):
        list(Frames(50, whole=True).put(struct.pack(">I", size)))


def test_a_message_may_have_64_kib() -> None:
    most = Message(Status.OK, b"x" * 65_536)
    assert take_message(bytearray(most.encoded)) == most
    with pytest.raises(MessageTooLarge, match="65537"):
        take_message(bytearray(struct.pack(">BI", Status.OK, 65_537)))


@pytest.mark.parametrize(
    ("data", "is_start"),
    [
        (b"\1\0\0\0\6GSSAPI", True),
        (b"\1\0\0\0\1", True),
        (b"\1\0\0\0\x14", True),
        (b"\1\0\0\0\x15", False),
        (b"\1\0\0\0\0", False),
        (b"\1\0\0\0", False),
        (b"\1\0\0\0\x80\1\0\1", False),
        (b"\2\0\0\0\6GSSAPI", False),
        (b"\1\0\0\1\6", False),
    ],
)
def test_a_negotiation_is_told_by_five_bytes(data: bytes, is_start: bool) -> None:
    assert begins_sasl(bytearray(data)) is is_start

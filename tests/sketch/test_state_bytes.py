import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import SketchError
from hmstats.sketch import state_bytes


@given(st.lists(st.binary(max_size=20), max_size=6))
def test_parts_come_back(parts: list[bytes]) -> None:
    sealed = state_bytes.seal(b"TEST", state_bytes.join(parts))
    assert state_bytes.split(state_bytes.unseal(b"TEST", sealed)) == parts


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"TEST", "at least 9 bytes, not 4"),
        (state_bytes.seal(b"ELSE", b"abc"), "expected the state TEST of version 1, found b'ELSE' 1"),
        (b"TEST\x02" + state_bytes.seal(b"TEST", b"abc")[5:], "found b'TEST' 2"),
        (state_bytes.seal(b"TEST", b"abc")[:-1] + b"d", "is damaged"),
    ],
)
def test_another_kind_version_or_damage_is_named(data: bytes, message: str) -> None:
    with pytest.raises(SketchError, match=message):
        state_bytes.unseal(b"TEST", data)


@pytest.mark.parametrize("data", [b"\x01", b"\x02\x00\x00\x00a", b"\x00\x00\x00\x00\xff\xff\xff\xff"])
def test_lengths_that_do_not_add_up_are_refused(data: bytes) -> None:
    with pytest.raises(SketchError, match="are left"):
        state_bytes.split(data)

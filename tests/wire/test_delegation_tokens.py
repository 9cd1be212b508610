"""Delegation tokens in Hadoop's form: numbers of every length, a token that Hive made, and bytes that are none."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import InvalidInput
from hmstats.model.access.delegation_token import DelegationToken
from hmstats.wire.delegation_tokens import identifier_of, read_token, token_of, token_text

TIMES = st.integers(-(2**63), 2**63 - 1)
NAMES = st.text(max_size=300)
TOKENS = st.builds(DelegationToken, st.integers(0, 2**31 - 1), NAMES, NAMES, NAMES, TIMES, TIMES)
TOKEN = DelegationToken(11, "alice", "trino", "", 1_717_000_000_844, 1_717_604_800_844)


@given(TOKENS, st.binary(max_size=300))
def test_a_token_comes_back(token: DelegationToken, password: bytes) -> None:
    identifier, read = read_token(token_text(identifier_of(token), password))
    assert (token_of(identifier), read) == (token, password)


def test_an_identifier_has_hadoops_bytes() -> None:
    # The issue time is that of a token that was seen: 8a says that six bytes follow.
    issued = DelegationToken(11, "spark", "hive", "", 0x018F9F3FD54C, 0x018FC34C594C)
    expected = "00 05 737061726b 04 68697665 00 8a 018f9f3fd54c 8a 018fc34c594c 0b 00"
    assert identifier_of(issued) == bytes.fromhex(expected)


@pytest.mark.parametrize(
    ("number", "form"),
    [(0, "00"), (127, "7f"), (128, "8f80"), (255, "8fff"), (256, "8e0100"), (2**31 - 1, "8c7fffffff")],
)
def test_numbers_have_hadoops_forms(number: int, form: str) -> None:
    token = DelegationToken(number, "a", "", "", 0, 0)
    assert identifier_of(token) == bytes.fromhex("00 01 61 00 00 00 00") + bytes.fromhex(form) + b"\0"


def test_a_text_has_kind_and_no_service_and_no_padding() -> None:
    text = token_text(b"identifier", b"password")
    assert "=" not in text
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    assert data == b"\x0aidentifier\x08password\x15HIVE_DELEGATION_TOKEN\0"


def test_another_kind_and_service_are_read_too() -> None:
    text = base64.urlsafe_b64encode(b"\x0aidentifier\x08password\x03OWN\x07service").decode()
    assert read_token(text) == (b"identifier", b"password")


@given(st.text(max_size=80) | st.binary(max_size=60).map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_a_text_that_is_no_token_is_refused_or_read(text: str) -> None:
    try:
        identifier, _ = read_token(text)
        token = token_of(identifier)
    except InvalidInput:
        return
    assert identifier_of(token) == identifier


@pytest.mark.parametrize(
    "identifier",
    [
        b"",
        b"\0",
        b"\1" + identifier_of(TOKEN)[1:],
        identifier_of(TOKEN) + b"\0",
        identifier_of(TOKEN)[:-1],
        b"\0\x8f\x05alice" + identifier_of(TOKEN)[7:],
        b"\0\x85\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\0\xff" + identifier_of(TOKEN)[2:],
        b"\0\x05\xff\xff\xff\xff\xff" + identifier_of(TOKEN)[7:],
        identifier_of(DelegationToken(2**31, "alice", "", "", 0, 0)),
        identifier_of(DelegationToken(-1, "alice", "", "", 0, 0)),
    ],
)
def test_another_identifier_is_refused(identifier: bytes) -> None:
    with pytest.raises(InvalidInput, match="must have the form that this metastore gives"):
        token_of(identifier)


def test_a_long_text_is_refused_unread() -> None:
    with pytest.raises(InvalidInput, match="must have the form that this metastore gives"):
        read_token("A" * 20_000)

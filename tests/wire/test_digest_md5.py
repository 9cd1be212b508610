"""DIGEST-MD5: the exchanges that RFC 2831 prints, and responses of other forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmstats.errors import NotAuthenticated
from hmstats.wire.digest_md5 import Response, challenge, proof, read_response

IMAP = (
    b'charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",nc=00000001,'
    b'cnonce="OA6MHXh6VqTrRk",digest-uri="imap/elwood.innosoft.com",response=d388dad90d4bbd760a152321f2143af7,qop=auth'
)
ACAP = (
    b'charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",nc=00000001,'
    b'cnonce="OA9BSuZWMSpW8m",digest-uri="acap/elwood.innosoft.com",response=6084c6db3fede7352c551284490fd0fc,qop=auth'
)


@pytest.mark.parametrize(
    ("data", "answer"),
    [(IMAP, "ea40f60335c427b5527b84dbabcdfffd"), (ACAP, "2f0b3d7c3c2e486600ef710726aa2eae")],
)
def test_the_examples_of_the_rfc(data: bytes, answer: str) -> None:
    response = read_response(data)
    assert proof(response, "secret") == response.proof
    assert proof(response, "secret", of_server=True) == answer
    assert proof(response, "Secret") != response.proof


def test_a_challenge_is_that_of_the_rfc() -> None:
    assert challenge("elwood.innosoft.com", "OA6MG9tEQGm2hh", ("auth",)) == (
        b'realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",charset=utf-8,algorithm=md5-sess'
    )


def test_a_response_is_read_in_every_spelling() -> None:
    spelled = b' username = "a\\"\\\\b" ,\r\n nonce=n, nc=00000001,,cnonce="c,=d",digest-uri="", digest-uri2=x'
    with pytest.raises(NotAuthenticated, match="must have digest-uri, response, found none"):
        read_response(spelled)
    whole = spelled.replace(b'digest-uri=""', b'digest-uri="null/default"') + b',response=00,authzid="x"'
    assert read_response(whole) == Response('a"\\b', "", "n", "00000001", "c,=d", "auth", "null/default", "00", "x")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        IMAP + b',username="root"',
        IMAP + b',qop="auth"',
        IMAP.replace(b",nonce", b" nonce"),
        IMAP.replace(b'"chris"', b'"chris'),
        IMAP.replace(b"chris", b"chr\xffis"),
        IMAP.replace(b"nc=00000001", b"nc="),
        IMAP + b',x="' + b"\\" * 4_000 + b'"',
        b"=" * 5_000,
        b"username",
    ],
)
def test_another_form_is_refused_without_a_word_of_it(data: bytes) -> None:
    with pytest.raises(NotAuthenticated, match=r"a (response|message) of DIGEST-MD5") as refused:
        read_response(data)
    assert "chris" not in str(refused.value)


@given(st.binary(max_size=200) | st.text('abc=",\\ \n', max_size=200).map(str.encode))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    with pytest.raises(NotAuthenticated):
        read_response(data)

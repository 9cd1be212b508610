"""Users who are proven before their requests are read: what a client without a proof can reach, hold and change."""

import re
import socket
import struct
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace

import pytest
from structlog.testing import capture_logs
from tests.server.authentication.peers import CALL, THRIFT, ask_binary, ask_http, connection_to, post, received, said
from tests.server.requests import reply_of, request
from tests.server.serving import PATIENCE_SECONDS, Client, Gate, serving

from hmstats.errors import NotAuthenticated
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.limits import Limits
from hmstats.server.rpc.caller import Session
from hmstats.server.rpc.metastore.session import SessionCalls

SECRET = "canary-0e5f"
SHORT_SECONDS = 0.3
WANTED = "this server serves authenticated clients only"


class Asked:
    """Proves the secret SECRET-USER to be USER's, and counts how often it was asked."""

    def __init__(self, believed_seconds: float = 60.0, **options: bool) -> None:
        self.count: Counter[str] = Counter()
        self._seconds = believed_seconds
        mechanism = Mechanism("token", "Bearer", lambda credential: credential.user is None, self.prove, **options)
        self.authentication = Authentication(("token",), None, (mechanism,))

    def prove(self, credential: Credential, address: str) -> Proven:
        self.count[credential.secret] += 1
        secret, _, user = credential.secret.rpartition("-")
        if secret != SECRET:
            raise NotAuthenticated("the token is unknown, revoked or expired")
        return Proven(Principal(user, ("staff",), "token"), self._seconds)


def bearer(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {SECRET}-{user}"}


def whoami(session: Session, key: str) -> str:
    return f"{session.user} {session.groups} {session.principal and session.principal.mechanism}"


def test_each_request_has_the_user_of_its_own_proof() -> None:
    with (
        serving(authentication=Asked().authentication, getOption=whoami) as address,
        closing(connection_to(address)) as connection,
    ):
        for user in ("alice", "bob", "alice"):
            _, _, body = post(connection, CALL, bearer(user))
            assert said(reply_of([body]).content) == f"{user} ('staff',) token"
        status, headers, body = post(connection, CALL, {})
    assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer realm="hmstats"')
    assert body.decode().startswith(WANTED)


def test_names_that_a_client_gives_change_no_proven_user() -> None:
    set_ugi = SessionCalls().set_ugi
    with (
        serving(authentication=Asked().authentication, getOption=whoami, set_ugi=set_ugi) as address,
        closing(connection_to(address)) as connection,
    ):
        named = bearer("alice") | {"x-actor-username": "root"}
        _, _, body = post(connection, request("set_ugi", user_name="root", group_names=["admins"]), named)
        assert reply_of([body]).value == ["alice"]
        _, _, body = post(connection, CALL, named)
        assert said(reply_of([body]).content) == "alice ('staff',) token"


def test_a_proof_is_checked_once_in_its_time_and_then_again() -> None:
    asked = Asked(believed_seconds=SHORT_SECONDS)
    with serving(authentication=asked.authentication) as address:
        for _ in range(3):
            assert ask_http(address, None, **bearer("alice")) == "k"
        assert asked.count == {f"{SECRET}-alice": 1}
        time.sleep(SHORT_SECONDS)
        assert ask_http(address, None, **bearer("alice")) == "k"
        assert asked.count == {f"{SECRET}-alice": 2}


def test_a_failed_proof_is_never_believed() -> None:
    asked = Asked()
    with serving(authentication=asked.authentication) as address:
        for _ in range(2):
            assert ask_http(address, None, Authorization="Bearer wrong") == (
                "401 the token is unknown, revoked or expired\n"
            )
    assert asked.count == {"wrong": 2}


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("Bearer", "the header Authorization"),
        ("Bearer ", "the header Authorization"),
        ("Digest username=x", "the header Authorization must be"),
        ("Basic !!!", "the header Authorization must be"),
        ("Basic YWxpY2U=", "the header Authorization must be"),
        ("Basic YWxpY2U6eA==", "found a secret of another kind"),
    ],
)
def test_other_headers_are_refused_before_a_check(header: str, sentence: str) -> None:
    asked = Asked()
    with serving(authentication=asked.authentication) as address:
        answer = ask_http(address, None, Authorization=header)
    assert answer.startswith("401 ")
    assert sentence in answer
    assert not asked.count


def test_two_proofs_in_one_request_are_refused() -> None:
    with serving(authentication=Asked().authentication) as address, Client(address) as client:
        head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-thrift\r\nContent-Length: 5\r\n"
        proofs = f"Authorization: Bearer wrong\r\nAuthorization: Bearer {SECRET}-alice\r\n"
        client.send((head + proofs + "\r\n").encode())
        assert client.socket.recv(65_536).startswith(b"HTTP/1.1 401 ")


def test_the_body_of_an_unproven_request_is_not_read() -> None:
    with serving(authentication=Asked().authentication) as address, Client(address) as client:
        head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-thrift\r\nContent-Length: 90000000\r\n\r\n"
        client.send(head.encode())
        assert client.socket.recv(65_536).startswith(b"HTTP/1.1 401 ")


def test_a_proven_request_may_be_large() -> None:
    text = "x" * 3_000_000
    with (
        serving(authentication=Asked().authentication) as address,
        closing(connection_to(address)) as connection,
    ):
        for _ in range(2):
            status, _, body = post(connection, request("getOption", 1, key=text), bearer("alice"))
            assert (status, reply_of([body]).value) == (200, text)


def test_requests_in_line_are_answered_in_order_each_with_its_user() -> None:
    with serving(authentication=Asked().authentication, getOption=whoami) as address, Client(address) as client:
        head = (
            f"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: {THRIFT['Content-Type']}\r\nContent-Length: {len(CALL)}\r\n"
        )
        users = ["alice", "bob"] * 10
        for user in users:
            client.send(f"{head}Authorization: Bearer {SECRET}-{user}\r\n\r\n".encode() + CALL)
        data = b""
        while data.count(b"token") < len(users):
            data += received(client, 1)
    assert re.findall(r"(\w+) \('staff',\) token", data.decode("latin-1")) == users


@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_a_large_request_without_a_proof_is_refused_by_its_head(size: int) -> None:
    message = request("getOption", 1, key="x" * size)
    with serving(authentication=Asked().authentication) as address:
        for sent in (message[:66_000], struct.pack(">I", len(message)) + message[:66_000]):
            with Client(address) as client:
                client.send(sent)
                data = client.socket.recv(65_536)
                assert not data or WANTED.encode() in data


def test_a_request_in_pieces_is_refused_once() -> None:
    with serving(authentication=Asked().authentication) as address, Client(address) as client:
        for at in range(len(CALL)):
            client.send(CALL[at : at + 1])
        assert WANTED in said(client.reply().content)
        assert client.at_end()


def test_requests_in_line_without_a_proof_are_refused_once() -> None:
    called = []
    with (
        serving(authentication=Asked().authentication, getOption=lambda session, key: called.append(key)) as address,
        Client(address) as client,
    ):
        client.send(CALL * 50)
        assert WANTED in said(client.reply().content)
        assert client.at_end()
    assert called == []


@pytest.mark.slow
def test_a_silent_connection_ends() -> None:
    limits = Limits(handshake_seconds=SHORT_SECONDS)
    with serving(limits, authentication=Asked().authentication) as address:
        with Client(address) as client:
            assert client.at_end()
        with closing(connection_to(address)) as connection:
            assert post(connection, CALL, bearer("alice"))[0] == 200
            time.sleep(2 * SHORT_SECONDS)
            assert post(connection, CALL, bearer("alice"))[0] == 200


def test_a_flood_of_silent_connections_ends_its_own_first() -> None:
    with serving(Limits(max_handshakes=20), authentication=Asked().authentication) as address, ExitStack() as stack:
        early = stack.enter_context(socket.create_connection(address, PATIENCE_SECONDS, ("127.0.0.2", 0)))
        silent = [stack.enter_context(Client(address)) for _ in range(100)]
        assert silent[0].at_end()
        head = f"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-thrift\r\nContent-Length: {len(CALL)}\r\n"
        early.sendall(f"{head}Authorization: Bearer {SECRET}-alice\r\n\r\n".encode() + CALL)
        assert early.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_a_check_that_takes_long_holds_up_nobody_else() -> None:
    gate = Gate()
    asked = Asked()

    def slow(credential: Credential, address: str) -> Proven:
        if credential.secret.endswith("-slow"):
            gate(Session(1, address))
        return asked.prove(credential, address)

    mechanism = Mechanism("token", "Bearer", lambda _: True, slow)
    with serving(authentication=Authentication(("token",), None, (mechanism,))) as address:
        answers: list[str] = []
        waiting = threading.Thread(target=lambda: answers.append(ask_http(address, None, **bearer("slow"))))
        waiting.start()
        gate.wait_entered()
        assert ask_http(address, None, **bearer("alice")) == "k"
        assert not answers
        gate.open()
        waiting.join(PATIENCE_SECONDS)
    assert answers == ["k"]


def test_a_client_that_leaves_during_its_check_harms_nobody() -> None:
    gate = Gate()

    def slow(credential: Credential, address: str) -> Proven:
        gate(Session(1, address))
        return Proven(Principal("alice", (), "token"), 1.0)

    mechanism = Mechanism("token", "Bearer", lambda _: True, slow)
    limits = Limits(handshake_seconds=SHORT_SECONDS)
    with serving(limits, authentication=Authentication(("token",), None, (mechanism,))) as address:
        with Client(address) as client:
            head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-thrift\r\nContent-Length: 9\r\n"
            client.send(f"{head}Authorization: Bearer x\r\n\r\n".encode())
            gate.wait_entered()
        time.sleep(2 * SHORT_SECONDS)
        gate.open()
        assert ask_http(address, None, Authorization="Bearer y") == "k"


def test_a_check_that_breaks_says_nothing_of_the_secret() -> None:
    def broken(credential: Credential, address: str) -> Proven:
        raise ValueError(credential.secret)

    mechanism = Mechanism("token", "Bearer", lambda _: True, broken)
    with (
        capture_logs() as logs,
        serving(authentication=Authentication(("token",), None, (mechanism,))) as address,
    ):
        answer = ask_http(address, None, **bearer("alice"))
    assert answer == "401 unexpected error; the server's log has it\n"
    assert "proof_broke" in {each["event"] for each in logs}
    assert SECRET not in str(logs) + answer


def test_no_secret_is_logged_or_answered() -> None:
    asked = Asked()
    with capture_logs() as logs, serving(authentication=asked.authentication) as address:
        answers = [ask_http(address, None, Authorization=f"{scheme} {SECRET}") for scheme in ("Bearer", "Basic", "Odd")]
        answers.append(ask_http(address, None, **bearer("alice")))
        answers.append(ask_binary(address))
    assert SECRET not in repr((answers, logs, Credential(SECRET)))


@pytest.mark.parametrize(
    ("peer", "over_tls", "taken"),
    [
        ("127.0.0.1:5", False, True),
        ("::1:5", False, True),
        ("10.1.2.3:5", False, False),
        ("10.1.2.3:5", True, True),
        ("odd", False, False),
    ],
)
def test_a_secret_from_another_machine_is_taken_over_tls_only(peer: str, over_tls: bool, taken: bool) -> None:
    authentication = Asked().authentication
    context = nullcontext() if taken else pytest.raises(NotAuthenticated, match="taken over TLS only")
    with context:
        authentication.mechanism(Credential("x"), peer, secure=over_tls)
    open_to_all = replace(authentication, unencrypted=True)
    assert open_to_all.mechanism(Credential("x"), peer, secure=over_tls).name == "token"

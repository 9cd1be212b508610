"""The client with a delegation token, against a server of ours, under each protection and over TLS."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.identity.authorities import issued
from tests.server.authentication.test_sasl_digest import WRONG, lasting
from tests.server.serving import Address, serving

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import HandedOver, credentials
from hmstats.errors import CallRefused, SettingsError
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.sasl import Protection
from hmstats.server.authentication.sasl_digest import TokensInUse, sasl_digest
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.store.database.store import Store
from hmstats.wire.delegation_tokens import identifier_of, token_text
from hmstats.wire.digest_md5 import challenge
from hmstats.wire.sasl_messages import MESSAGE_HEAD_BYTES, Message, Status, head

LARGE = "x" * 3_000_000


def names(session: Session, user_name: str, group_names: list[str]) -> list[str]:
    return [user_name]


def whoami(session: Session, key: str) -> str:
    assert session.principal is not None
    return f"{session.principal.user} {session.principal.mechanism} {key}"


@contextmanager
def served(store: Store, least: Protection, tls: Tls | None = None) -> Iterator[Address]:
    authentication = Authentication(
        ("kerberos",), sasl=(sasl_digest(TokensInUse(lasting(store)), least),), protection=least
    )
    calls: dict[str, Any] = {"set_ugi": names, "getOption": whoami}
    with serving(tls=tls, authentication=authentication, **calls) as address:
        yield address


@pytest.fixture
def token(store: Store) -> str:
    """A token of alice."""
    made = lasting(store).issue("alice", "alice", "")
    return token_text(identifier_of(made.token), made.secret)


def ask(uri: str, token: str, text: str = "k") -> Any:
    shown = credentials(HandedOver(delegation_token=token))
    connection = Connection(addresses(uri), timeout_seconds=20, retries=0, shown=shown)
    try:
        return connection.call("getOption", text)
    finally:
        connection.close()


@pytest.mark.parametrize("least", [Protection.AUTHENTICATION, Protection.INTEGRITY])
def test_calls_are_made_as_the_owner(store: Store, token: str, least: Protection) -> None:
    with served(store, least) as (_, port):
        for text in ("k", LARGE, ""):
            assert ask(f"thrift://localhost:{port}", token, text) == f"alice delegation_token {text}"


def test_calls_over_tls(store: Store, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    tls = Tls(Certificates(files.certificate, files.key), required=True)
    with served(store, Protection.PRIVACY, tls) as (_, port):
        assert ask(f"thrift+tls://localhost:{port}", token).startswith("alice ")


def test_a_cancelled_or_changed_token_is_refused(store: Store, token: str) -> None:
    made = lasting(store).issue("alice", "alice", "")
    with served(store, Protection.AUTHENTICATION) as (_, port):
        uri = f"thrift://localhost:{port}"
        with pytest.raises(CallRefused, match=WRONG):
            ask(uri, token_text(identifier_of(made.token), made.secret[:-1] + b"\0"))
        lasting(store).cancel(made.token, made.secret, "alice")
        with pytest.raises(CallRefused, match=WRONG):
            ask(uri, token_text(identifier_of(made.token), made.secret))
        assert ask(uri, token).startswith("alice ")


def test_what_is_no_token_is_told_without_the_text() -> None:
    with serving(getOption=whoami) as (_, port), pytest.raises(SettingsError, match="must have the form") as error:
        ask(f"thrift://localhost:{port}", "canary")
    assert "canary" not in str(error.value)


def test_a_server_that_does_not_know_the_token_is_left(token: str) -> None:
    """One that says that the proof was right, and cannot prove that it knows the secret too."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def pretend() -> None:
            client, _ = listening.accept()
            with client:
                for answer in (
                    None,
                    Message(Status.OK, challenge("default", "nonce", ("auth",))),
                    Message(Status.COMPLETE, b"rspauth=" + b"0" * 32),
                ):
                    _, length = head(client.recv(MESSAGE_HEAD_BYTES, socket.MSG_WAITALL))
                    client.recv(length, socket.MSG_WAITALL) if length else None
                    if answer is not None:
                        client.sendall(answer.encoded)
                client.recv(1)

        pretending = threading.Thread(target=pretend)
        pretending.start()
        with pytest.raises(CallRefused, match="the metastore does not know the delegation token"):
            ask(f"thrift://127.0.0.1:{listening.getsockname()[1]}", token)
        pretending.join(20)


def test_secrets_are_in_no_text(token: str) -> None:
    handed = HandedOver("canary", token)
    assert "canary" not in repr(handed)
    assert token not in repr(handed)

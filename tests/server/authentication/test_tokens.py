"""Tokens over HTTP: two servers over one database, and what a revoked, expired or foreign secret reaches."""

import base64
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from structlog.testing import capture_logs
from tests.server.authentication.peers import CALL, ask_http, connection_to, post, said
from tests.server.requests import reply_of
from tests.server.serving import PATIENCE_SECONDS, Address, serving

from hmstats.model.access.api_token import hash_of
from hmstats.server.authentication import tokens as proofs
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.calls.dispatch import Session
from hmstats.service.access.api_tokens import ApiTokens
from hmstats.store.database.store import Store

REFUSED = "401 the token is unknown, revoked or expired\n"
SHORT_SECONDS = 0.3


def whoami(session: Session, key: str) -> str:
    return f"{session.user} {session.groups} {session.principal and session.principal.mechanism}"


@pytest.fixture
def tokens(store: Store) -> ApiTokens:
    return ApiTokens(store)


@pytest.fixture
def address(tokens: ApiTokens) -> Iterator[Address]:
    with serving(authentication=Authentication(("token",), None, (proofs.by_token(tokens),)), getOption=whoami) as at:
        yield at


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def basic(user: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}


def test_a_token_is_taken_as_bearer_and_as_password(tokens: ApiTokens, address: Address) -> None:
    secret = tokens.create("etl", "alice", ("writers",))
    for headers in (bearer(secret), basic("alice", secret), basic("", secret)):
        assert ask_http(address, None, **headers) == "alice ('writers',) token"


def test_a_token_is_of_no_other_user(tokens: ApiTokens, address: Address) -> None:
    secret = tokens.create("etl", "alice")
    assert ask_http(address, None, **bearer(secret)) == "alice () token"
    assert ask_http(address, None, **basic("root", secret)) == REFUSED


def test_secrets_that_are_none(tokens: ApiTokens, address: Address) -> None:
    secret = tokens.create("etl", "alice")
    for wrong in (secret[:-1], secret + "A", "hmst_", "hmst_" + hash_of(secret), "hmst_" + "x" * 90):
        assert ask_http(address, None, **bearer(wrong)) == REFUSED
    for other in (hash_of(secret), secret.removeprefix("hmst_"), "hmst_" + "x" * 5_000):
        assert "found a secret of another kind" in ask_http(address, None, **bearer(other))


def test_an_expired_token_is_refused(tokens: ApiTokens, address: Address) -> None:
    assert ask_http(address, None, **bearer(tokens.create("old", "alice", valid_seconds=-1))) == REFUSED


def test_a_revoked_token_is_refused_by_every_server_on_open_connections_too(
    tokens: ApiTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proofs, "BELIEVED_SECONDS", SHORT_SECONDS)
    secret = tokens.create("etl", "alice")
    with ExitStack() as stack:
        servers = [
            stack.enter_context(serving(authentication=Authentication(("token",), None, (proofs.by_token(tokens),))))
            for _ in range(2)
        ]
        connections = [stack.enter_context(closing(connection_to(each))) for each in servers]
        for each in connections:
            assert post(each, CALL, bearer(secret))[0] == 200
        tokens.revoke("etl")
        for each in connections:
            assert refused_soon(each, secret)


@pytest.mark.slow
def test_a_token_that_expires_is_not_believed_longer(tokens: ApiTokens, address: Address) -> None:
    secret = tokens.create("short", "alice", valid_seconds=1.0)
    with closing(connection_to(address)) as connection:
        status, _, body = post(connection, CALL, bearer(secret))
        assert (status, said(reply_of([body]).content)) == (200, "alice () token")
        end = time.monotonic() + proofs.BELIEVED_SECONDS / 2
        assert refused_soon(connection, secret)
        assert time.monotonic() < end, "it was believed for the whole time of a token without an end"


def refused_soon(connection: object, secret: str) -> bool:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if post(connection, CALL, bearer(secret))[0] == 401:  # type: ignore[arg-type]
            return True
        time.sleep(0.05)
    return False


def test_no_secret_is_logged(tokens: ApiTokens, address: Address) -> None:
    secret = tokens.create("etl", "alice")
    tokens.create("other", "bob")
    with capture_logs() as logs:
        answers = [ask_http(address, None, **bearer(each)) for each in (secret, secret + "x")]
        answers.append(ask_http(address, None, **basic("root", secret)))
        answers.append(ask_http(address, None, Authorization=f"Token {secret}"))
    assert secret not in repr((logs, answers))
    assert hash_of(secret) not in repr((logs, answers))


def test_a_database_that_is_away_refuses_and_says_so(tokens: ApiTokens, address: Address, store: Store) -> None:
    secret = tokens.create("etl", "alice")

    def away(_: str) -> None:
        raise ValueError(secret)

    tokens.find = away  # type: ignore[method-assign,assignment]
    assert ask_http(address, None, **bearer(secret)) == "401 unexpected error; the server's log has it\n"

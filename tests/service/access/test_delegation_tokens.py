"""Delegation tokens: who may renew and cancel them, when they end, and what another server of the database sees."""

import time
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import select

from hmstats.errors import AccessDenied, InvalidInput
from hmstats.service.access.delegation_tokens import DelegationTokens
from hmstats.store.database.store import Store
from hmstats.store.opening import open_store
from hmstats.store.schema import HMSTATS_DELEGATION_TOKEN

DAY = 86_400
UNKNOWN = "the delegation token is unknown, cancelled or expired"


def lasting(store: Store, life_seconds: float = 7 * DAY, renew_seconds: float = DAY) -> DelegationTokens:
    return DelegationTokens(store, life_seconds=life_seconds, renew_seconds=renew_seconds)


def rows(store: Store) -> list[int]:
    with store.read() as connection:
        return list(connection.execute(select(HMSTATS_DELEGATION_TOKEN.c.EXPIRES_AT)).scalars())


def test_a_secret_is_random_and_found_on_every_server(store: Store, database_url: str) -> None:
    issued = [lasting(store).issue("alice", "hive", "trino") for _ in range(5)]
    assert len({each.secret for each in issued}) == len({each.token.number for each in issued}) == 5
    with closing(open_store(database_url, pool_size=1, statement_seconds=10)) as other:
        assert [lasting(other).secret(each.token) for each in issued] == [each.secret for each in issued]
        lasting(other).cancel(issued[0].token, issued[0].secret, "alice")
    assert lasting(store).secret(issued[0].token) is None
    assert lasting(store).secret(issued[1].token) == issued[1].secret


def test_a_token_tells_who_asked_and_when_it_ends(store: Store) -> None:
    token, _ = lasting(store).issue("alice", "hive", "trino")
    assert (token.owner, token.renewer, token.real_user) == ("alice", "hive", "trino")
    assert token.ends_ms - token.issued_ms == 7 * DAY * 1_000
    assert rows(store) == [token.issued_ms + DAY * 1_000]


def test_a_token_whose_fields_were_changed_has_no_secret(store: Store) -> None:
    tokens = lasting(store)
    token, _ = tokens.issue("alice", "hive", "")
    for changed in (
        replace(token, owner="root"),
        replace(token, renewer="bob"),
        replace(token, real_user="trino"),
        replace(token, ends_ms=token.ends_ms + 1),
        replace(token, issued_ms=0),
        replace(token, number=token.number ^ 1),
    ):
        assert tokens.secret(changed) is None


def test_only_the_renewer_renews_and_never_beyond_the_end(store: Store) -> None:
    tokens = lasting(store, life_seconds=DAY * 1.5)
    token, secret = tokens.issue("alice", "hive", "trino")
    for user in ("alice", "trino", "bob"):
        with pytest.raises(AccessDenied, match=f"{user} may not renew the token of alice: only its renewer may"):
            tokens.renew(token, secret, user)
    (before,) = rows(store)
    longer = lasting(store, renew_seconds=DAY * 1.2)
    assert before < longer.renew(token, secret, "hive") < token.ends_ms
    assert lasting(store, renew_seconds=DAY * 30).renew(token, secret, "hive") == token.ends_ms
    assert rows(store) == [token.ends_ms]


def test_nobody_renews_a_token_without_a_renewer(store: Store) -> None:
    tokens = lasting(store)
    token, secret = tokens.issue("alice", "", "")
    for user in ("alice", ""):
        with pytest.raises((AccessDenied, InvalidInput)):
            tokens.renew(token, secret, user)


def test_owner_and_renewer_cancel(store: Store) -> None:
    tokens = lasting(store)
    for user in ("alice", "hive"):
        token, secret = tokens.issue("alice", "hive", "trino")
        for other in ("trino", "bob"):
            with pytest.raises(AccessDenied, match=f"{other} may not cancel the token of alice"):
                tokens.cancel(token, secret, other)
        assert tokens.secret(token) == secret
        tokens.cancel(token, secret, user)
        assert tokens.secret(token) is None
        for use in (tokens.cancel, tokens.renew):
            with pytest.raises(InvalidInput, match=UNKNOWN):
                use(token, secret, user)


def test_a_wrong_secret_says_no_more_than_an_unknown_token(store: Store) -> None:
    tokens = lasting(store)
    token, secret = tokens.issue("alice", "alice", "")
    for wrong in (b"", secret[:-1], bytes(32)):
        for use in (tokens.cancel, tokens.renew):
            with pytest.raises(InvalidInput, match=UNKNOWN):
                use(token, wrong, "alice")
    assert tokens.secret(token) == secret


def test_an_expired_token_is_worth_nothing_and_is_removed(store: Store) -> None:
    tokens = lasting(store, renew_seconds=0.0)
    token, secret = tokens.issue("alice", "alice", "")
    kept, _ = lasting(store).issue("bob", "", "")
    assert tokens.secret(token) is None
    with pytest.raises(InvalidInput, match=UNKNOWN):
        lasting(store).renew(token, secret, "alice")
    tokens.remove_expired()
    assert rows(store) == [kept.issued_ms + DAY * 1_000]


@pytest.mark.parametrize("name", ["", "a\nb", " a", "x" * 257])
def test_a_name_that_is_none_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InvalidInput, match="must have 1 to 256 printable characters"):
        lasting(store).issue(name, "", "")
    if name:
        with pytest.raises(InvalidInput, match="must have 1 to 256 printable characters"):
            lasting(store).issue("alice", name, "")


@pytest.mark.parametrize("ahead_days", [30_000, -20_000])
def test_a_wrong_clock_of_a_server_ends_no_token_and_prolongs_none(
    store: Store, monkeypatch: pytest.MonkeyPatch, ahead_days: int
) -> None:
    tokens, right = lasting(store), time.time
    before, expired = tokens.issue("alice", "hive", ""), lasting(store, renew_seconds=-1).issue("alice", "hive", "")
    monkeypatch.setattr("time.time", lambda: right() + ahead_days * DAY)
    during = tokens.issue("alice", "hive", "")
    tokens.remove_expired()
    assert tokens.still_valid([before.token, during.token, expired.token]) == {before.token, during.token}
    assert tokens.secret(expired.token) is None
    renewed = tokens.renew(before.token, before.secret, "hive") / 1_000
    assert 0 < renewed - right() <= DAY

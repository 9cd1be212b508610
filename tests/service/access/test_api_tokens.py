"""Tokens: what is stored of them, and when they count."""

import time

import pytest
from sqlalchemy import select

from hmstats.errors import AlreadyExists, InvalidInput, NoSuchObject
from hmstats.model.access.api_token import hash_of, is_secret
from hmstats.service.access.api_tokens import ApiTokens
from hmstats.store.database.store import Store
from hmstats.store.schema import HMSTATS_API_TOKEN


def test_a_token_proves_its_user_and_groups(store: Store) -> None:
    tokens = ApiTokens(store)
    secret = tokens.create("etl", "alice", ("writers", "staff"), 3_600)
    found = tokens.find(secret)
    assert found is not None
    assert (found.token.name, found.token.user, found.token.groups) == ("etl", "alice", ("writers", "staff"))
    assert found.remaining_seconds is not None
    assert 3_500 < found.remaining_seconds <= 3_600


def test_two_secrets_are_never_alike_and_none_is_stored(store: Store) -> None:
    tokens = ApiTokens(store)
    secrets = {tokens.create(f"t{number}", "alice") for number in range(20)}
    assert len(secrets) == 20
    assert all(is_secret(each) for each in secrets)
    with store.read() as connection:
        rows = [tuple(row) for row in connection.execute(select(HMSTATS_API_TOKEN))]
    assert {row[0] for row in rows} == {hash_of(each) for each in secrets}
    assert not [each for each in secrets if each in repr(rows)]


def test_neither_a_hash_nor_a_part_is_a_secret(store: Store) -> None:
    tokens = ApiTokens(store)
    secret = tokens.create("etl", "alice")
    for wrong in (hash_of(secret), secret[:-1], secret + "x", secret.swapcase(), "", "%", "' OR '1'='1"):
        assert tokens.find(wrong) is None


def test_an_expired_token_proves_nobody_and_is_listed(store: Store) -> None:
    tokens = ApiTokens(store)
    secret = tokens.create("old", "alice", valid_seconds=-1)
    assert tokens.find(secret) is None
    assert [each.name for each in tokens.listed()] == ["old"]


def test_a_revoked_token_proves_nobody_and_its_name_is_free(store: Store) -> None:
    tokens = ApiTokens(store)
    secret = tokens.create("etl", "alice")
    with pytest.raises(AlreadyExists, match="token etl exists already"):
        tokens.create("etl", "bob")
    tokens.revoke("etl")
    assert (tokens.find(secret), tokens.listed()) == (None, [])
    with pytest.raises(NoSuchObject, match="there is no token etl"):
        tokens.revoke("etl")
    again = tokens.find(tokens.create("etl", "bob"))
    assert again is not None
    assert (again.token.user, again.remaining_seconds) == ("bob", None)


@pytest.mark.parametrize("name", ["", " x", "a\nb", "a" * 300])
def test_names_that_are_none(store: Store, name: str) -> None:
    for given in ((name, "alice", ()), ("etl", name, ()), ("etl", "alice", (name,))):
        with pytest.raises(InvalidInput, match="must have 1 to 256 printable characters"):
            ApiTokens(store).create(*given)


@pytest.mark.parametrize("ahead_days", [30_000, -20_000])
def test_a_wrong_clock_of_this_machine_changes_no_time(
    store: Store, monkeypatch: pytest.MonkeyPatch, ahead_days: int
) -> None:
    """A token begins and ends by the database's clock, whichever machine makes it."""
    tokens, right = ApiTokens(store), time.time
    before = tokens.create("before", "alice", valid_seconds=3_600)
    monkeypatch.setattr("time.time", lambda: right() + ahead_days * 86_400)
    expired = tokens.create("expired", "alice", valid_seconds=-1)
    for secret in (before, tokens.create("during", "alice", valid_seconds=3_600)):
        found = tokens.find(secret)
        assert found is not None
        assert found.remaining_seconds is not None
        assert 3_400 < found.remaining_seconds <= 3_600
        assert abs(found.token.created_ms / 1_000 - right()) < 100
    assert tokens.find(expired) is None

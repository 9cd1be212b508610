"""Calls about delegation tokens: who gets one, of whom, and what a token itself may not do."""

import pytest

from hmstats.errors import AccessDenied, InvalidInput, MetaError
from hmstats.model.access.delegation_token import DELEGATION_TOKEN, DelegationToken
from hmstats.model.access.kerberos_names import KerberosRules
from hmstats.model.access.principal import Principal
from hmstats.model.access.proxy_users import ProxyUsers
from hmstats.server.authentication.delegation import Delegation
from hmstats.server.rpc.access.delegation import DelegationCalls
from hmstats.server.rpc.caller import Session
from hmstats.service.access.delegation_tokens import DelegationTokens
from hmstats.store.database.store import Store
from hmstats.wire.delegation_tokens import read_token, token_of

PROXIES = ProxyUsers({"trino": {"users": ("a*",), "hosts": ("10.0.0.0/8",)}})


@pytest.fixture
def tokens(store: Store) -> DelegationTokens:
    return DelegationTokens(store, life_seconds=1_000, renew_seconds=100)


@pytest.fixture
def calls(tokens: DelegationTokens) -> DelegationCalls:
    return DelegationCalls(Delegation(tokens, KerberosRules("DEFAULT", "EXAMPLE.ORG"), PROXIES))


def session(user: str, mechanism: str = "kerberos", *, via: str | None = None, peer: str = "10.1.1.1:5") -> Session:
    made = Session(1, peer)
    made.authenticate(Principal(user, (), mechanism, via))
    return made


def made_for(calls: DelegationCalls, by: Session, owner: str | None, renewer: str | None = "hive") -> DelegationToken:
    return token_of(read_token(calls.get_delegation_token(by, owner, renewer))[0])


@pytest.mark.parametrize(
    ("owner", "renewer", "short"),
    [
        ("alice", "hive", "hive"),
        ("alice@EXAMPLE.ORG", "hive/host.example.org@EXAMPLE.ORG", "hive"),
        ("alice/admin", "hive/host.example.org", "hive"),
        ("alice", None, ""),
        ("alice", "", ""),
    ],
)
def test_a_token_is_of_users_and_not_of_principals(
    calls: DelegationCalls, owner: str, renewer: str | None, short: str
) -> None:
    token = made_for(calls, session("alice"), owner, renewer)
    assert (token.owner, token.renewer, token.real_user) == ("alice", short, "")


def test_a_proxy_user_gets_tokens_of_others_from_its_addresses(calls: DelegationCalls) -> None:
    token = made_for(calls, session("trino"), "alice")
    assert (token.owner, token.real_user) == ("alice", "trino")
    assert made_for(calls, session("trino"), "trino").real_user == ""
    for by, owner, whom in [
        (session("trino"), "bob", "trino may not act as bob from 10.1.1.1"),
        (session("trino", peer="192.0.2.1:5"), "alice", "trino may not act as alice from 192.0.2.1"),
        (session("alice"), "trino", "alice may not act as trino from 10.1.1.1"),
        (session("alice", peer="[::1]:5"), "bob", "alice may not act as bob from ::1"),
    ]:
        with pytest.raises(AccessDenied, match=f"^{whom}: the setting proxy_users does not allow it$"):
            calls.get_delegation_token(by, owner, "hive")


def test_who_acts_as_another_stays_named_and_has_its_own_rights_only(calls: DelegationCalls) -> None:
    acting = session("alice", via="trino")
    token = made_for(calls, acting, "alice")
    assert (token.owner, token.real_user) == ("alice", "trino")
    assert made_for(calls, acting, "anna").real_user == "trino"
    with pytest.raises(AccessDenied, match=r"^trino may not act as bob"):
        calls.get_delegation_token(acting, "bob", "hive")


@pytest.mark.parametrize("mechanism", [DELEGATION_TOKEN, "token", "jwt", "password", "certificate"])
def test_only_kerberos_buys_and_renews(calls: DelegationCalls, mechanism: str) -> None:
    text = calls.get_delegation_token(session("alice"), "alice", "alice")
    by = session("alice", mechanism)
    with pytest.raises(AccessDenied, match=f"alice may not get a delegation token: .* found {mechanism}"):
        calls.get_delegation_token(by, "alice", "alice")
    with pytest.raises(AccessDenied, match=f"alice may not renew a delegation token: .* found {mechanism}"):
        calls.renew_delegation_token(by, text)
    calls.cancel_delegation_token(by, text)


def test_a_token_is_renewed_and_cancelled(calls: DelegationCalls, tokens: DelegationTokens) -> None:
    text = calls.get_delegation_token(session("alice"), "alice", "hive/host@EXAMPLE.ORG")
    token = token_of(read_token(text)[0])
    assert token.issued_ms < calls.renew_delegation_token(session("hive"), text) <= token.ends_ms
    with pytest.raises(AccessDenied, match="bob may not cancel the token of alice"):
        calls.cancel_delegation_token(session("bob"), text)
    calls.cancel_delegation_token(session("hive"), text)
    assert tokens.secret(token) is None


@pytest.mark.parametrize("owner", [None, "", "alice@OTHER.ORG", "a b@c@d", " "])
def test_an_owner_that_is_no_user_is_refused(calls: DelegationCalls, owner: str | None) -> None:
    with pytest.raises((InvalidInput, AccessDenied)):
        calls.get_delegation_token(session("alice"), owner, "hive")


def test_without_a_proven_user_there_is_none(calls: DelegationCalls) -> None:
    with pytest.raises(AccessDenied, match="is for proven users"):
        calls.get_delegation_token(Session(1, "10.1.1.1:5"), "alice", "hive")


def test_without_kerberos_there_is_none() -> None:
    calls = DelegationCalls(None)
    for call in (
        lambda: calls.get_delegation_token(session("alice", "token"), "alice", "hive"),
        lambda: calls.renew_delegation_token(session("alice", "token"), "x"),
        lambda: calls.cancel_delegation_token(session("alice", "token"), "x"),
    ):
        with pytest.raises(MetaError, match="delegation tokens are not supported: this metastore issues none"):
            call()

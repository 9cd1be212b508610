"""Tokens and master keys of other servers, where users are proven and no access rules say who may have them."""

from collections.abc import Callable
from typing import Any

import pytest

from hmstats.errors import AccessDenied
from hmstats.server.rpc.access.tokens import TokenCalls
from hmstats.server.rpc.caller import Session
from hmstats.service.access.tokens import Tokens
from hmstats.store.database.store import Store

CALLS: list[Callable[[TokenCalls, Session], Any]] = [
    lambda calls, by: calls.get_master_keys(by),
    lambda calls, by: calls.add_master_key(by, "forged"),
    lambda calls, by: calls.update_master_key(by, 1, "forged"),
    lambda calls, by: calls.remove_master_key(by, 1),
    lambda calls, by: calls.get_token(by, "i"),
    lambda calls, by: calls.add_token(by, "i", "forged"),
    lambda calls, by: calls.remove_token(by, "i"),
    lambda calls, by: calls.get_all_token_identifiers(by),
]


@pytest.mark.parametrize("call", CALLS)
def test_nobody_has_them_without_rules(store: Store, call: Callable[[TokenCalls, Session], Any]) -> None:
    tokens = Tokens(store)
    tokens.add("i", "t")
    tokens.add_key("key")
    before = tokens.keys(), tokens.get("i"), tokens.identifiers()
    with pytest.raises(AccessDenied, match="are for users whom access rules allow admin of the server, found no rules"):
        call(TokenCalls(tokens, refused=True), Session(1, "10.0.0.1:5"))
    assert (tokens.keys(), tokens.get("i"), tokens.identifiers()) == before

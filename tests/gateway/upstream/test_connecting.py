"""An upstream that refuses a user is told apart from one that is away: only the latter is answered for from memory."""

from typing import Any

import pytest
from tests.gateway.gateways import TIMES

from hmstats.client.connection.address import Address
from hmstats.errors import CallRefused, HmstatsError, UpstreamSilent, UserRefused
from hmstats.gateway.upstream.arriving import MOST_HELD_BYTES
from hmstats.gateway.upstream.connecting import Connecting
from hmstats.gateway.upstream.connection import User


class OfGateway:
    """The gateway's own connection, whose call ends with an error."""

    def __init__(self, error: HmstatsError) -> None:
        self._error = error

    def call(self, *_: Any) -> Any:
        """Raise the error."""
        raise self._error

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("error", "refused"),
    [(CallRefused("get_delegation_token", "MetaException", "no proxy user"), True), (UpstreamSilent("hangs"), False)],
)
def test_only_a_refusal_refuses_the_user(monkeypatch: pytest.MonkeyPatch, error: HmstatsError, refused: bool) -> None:
    connecting = Connecting(TIMES, None, "hive/_HOST@REALM", MOST_HELD_BYTES)
    monkeypatch.setattr(connecting, "_by_ticket", lambda *_: OfGateway(error))
    monkeypatch.setattr("hmstats.gateway.upstream.connecting.ticket_user", lambda: "gateway")
    with pytest.raises(UserRefused if refused else UpstreamSilent) as raised:
        connecting(Address("127.0.0.1", 1), User("mallory"))
    assert isinstance(raised.value, UserRefused) is refused

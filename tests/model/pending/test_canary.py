"""Which clients are canaries."""

from datetime import UTC, datetime

import pytest

from hmstats.errors import SettingsError
from hmstats.model.pending.canary import NOBODY, Canary, parse_canary
from hmstats.server.rpc.caller import Session

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC).timestamp()


def taken(text: str, *names: str, address: str = "192.0.2.7", drawn: float = 0.5, now: float = NOON) -> bool:
    return parse_canary(text).takes(names, address, drawn, now)


def test_nobody() -> None:
    assert parse_canary("") == NOBODY
    assert not taken("", "ada", drawn=0.0)


def test_users_and_groups() -> None:
    assert taken("user:ada, user:etl", "ada", "people")
    assert taken("user:people", "ada", "people")
    assert not taken("user:ada", "eve")


def test_addresses() -> None:
    assert taken("address:192.0.2.7")
    assert taken("address:192.0.2.0/24")
    assert taken("address:192.0.2.0/24", address="::ffff:192.0.2.9")
    assert taken("address:2001:db8::/32", address="[2001:db8::5]")
    assert not taken("address:192.0.2.0/24", address="198.51.100.1")
    assert not taken("address:192.0.2.0/24", address="unix")


def test_a_share_for_a_time() -> None:
    assert taken("share:0.05", drawn=0.049)
    assert not taken("share:0.05", drawn=0.05)
    assert taken("share:1 until 2026-12-01T12:00:01Z")
    assert not taken("share:1 until 2026-12-01T11:59:59Z")
    assert taken("user:ada, share:0.1 until 2020-01-01T00:00:00Z", "ada")


@pytest.mark.parametrize(
    "text",
    ["ada", "user:", "address:x", "share:0", "share:2", "share:0.1 until noon", "share:0.1 until 2026-12-01T00:00:00"],
)
def test_what_is_no_canary(text: str) -> None:
    with pytest.raises(SettingsError, match="canary must have entries"):
        parse_canary(text)


def test_a_connection_is_a_canary_from_the_call_that_names_its_user() -> None:
    session = Session(1, "192.0.2.7:1234", canary=Canary(users=frozenset({"ada"})))
    seen = [session.is_canary]
    for user in ("ada", "eve"):
        session.identify(user)
        seen.append(session.is_canary)
    assert seen == [False, True, False]
    assert Session(1, "192.0.2.7:1234", canary=parse_canary("address:192.0.2.0/24")).is_canary
    share = [Session(each, "a:1", canary=Canary(share=0.5)).is_canary for each in range(400)]
    assert 100 < sum(share) < 300

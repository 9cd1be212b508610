"""A delegation token that is handed to others: renewed in time, cancelled at the end, whatever fails meanwhile."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from hmstats.client.connection import renewed_token as module
from hmstats.client.connection.renewed_token import renewed_token
from hmstats.errors import CallRefused, ServiceUnavailable

Renewal = Callable[[int], int]
"""From the number of a renewal, from 1, to when the token expires, epoch ms."""


class Metastore:
    """Stands for a connection; all connections record their calls here."""

    def __init__(self, renewal: Renewal) -> None:
        self._renewal = renewal
        self.calls: list[str] = []
        self.closed = 0

    def call(self, method: str, *_: Any) -> Any:
        self.calls.append(method)
        if method == "renew_delegation_token":
            return self._renewal(self.calls.count(method))
        return {"set_ugi": ["alice"], "get_delegation_token": "token"}.get(method)

    def another(self) -> "Metastore":
        return self

    def close(self) -> None:
        self.closed += 1

    def renewals(self, number: int) -> None:
        """Wait for so many renewals."""
        until = time.monotonic() + 20
        while self.calls.count("renew_delegation_token") < number:
            assert time.monotonic() < until, self.calls
            time.sleep(0.01)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ticket_user", lambda: "alice")
    monkeypatch.setattr(module, "_LEAST_PAUSE_SECONDS", 0.01)


def after(seconds: float) -> int:
    return round((time.time() + seconds) * 1_000)


def events(renewal: Renewal, number: int) -> tuple[Metastore, list[str]]:
    """What was called and logged when a token was renewed some times."""
    metastore = Metastore(renewal)
    with capture_logs() as logs, renewed_token(metastore) as token:  # type: ignore[arg-type]
        assert token == "token"
        metastore.renewals(number)
        time.sleep(0.1)
    return metastore, [each["event"] for each in logs]


@pytest.mark.slow
def test_a_token_is_renewed_until_the_end_and_then_cancelled() -> None:
    metastore, logged = events(lambda number: after(0.1 + number), 3)
    assert (metastore.calls[-1], metastore.calls.count("cancel_delegation_token")) == ("cancel_delegation_token", 1)
    assert (logged, metastore.closed) == ([], 1)
    called = list(metastore.calls)
    time.sleep(0.2)
    assert metastore.calls == called


def test_a_token_that_lasts_long_is_renewed_no_second_time() -> None:
    metastore, logged = events(lambda number: after(86_400), 1)
    assert (metastore.calls.count("renew_delegation_token"), logged) == (1, [])


@pytest.mark.slow
def test_a_failed_renewal_is_repeated_while_the_token_lasts() -> None:
    def renewal(number: int) -> int:
        if number in (2, 3):
            raise ServiceUnavailable("the metastore is away")
        return after(1.0)

    metastore, logged = events(renewal, 5)
    assert logged[:2] == ["delegation_token_not_renewed"] * 2
    assert metastore.calls[-1] == "cancel_delegation_token"


def test_the_longest_time_of_a_token_ends_its_renewals_with_a_warning() -> None:
    end = after(0.5)
    metastore, logged = events(lambda number: end, 2)
    assert (logged, metastore.calls.count("renew_delegation_token")) == (["delegation_token_ends"], 2)


def test_a_metastore_that_renews_nothing_is_worked_with_all_the_same() -> None:
    def renewal(number: int) -> int:
        raise CallRefused("renew_delegation_token", "MetaException", "not supported")

    metastore, logged = events(renewal, 1)
    assert logged == ["delegation_token_not_renewed"]
    assert metastore.calls[-2:] == ["renew_delegation_token", "cancel_delegation_token"]


def test_a_token_that_expires_while_the_metastore_is_away_is_given_up() -> None:
    def renewal(number: int) -> int:
        if number > 1:
            raise ServiceUnavailable("the metastore is away")
        return after(0.2)

    metastore, logged = events(renewal, 2)
    until = time.monotonic() + 20
    while not metastore.closed:
        assert time.monotonic() < until
    assert set(logged) == {"delegation_token_not_renewed"}

"""Who the upstream is, and of which release: another one may be started at its address while a gateway runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from tests.gateway.gateways import TIMES, upstream_of

from hmstats.client.connection.address import Address
from hmstats.errors import MetaError, UpstreamUnavailable
from hmstats.gateway.upstream import known_upstream
from hmstats.gateway.upstream.arriving import MOST_HELD_BYTES
from hmstats.gateway.upstream.known_upstream import KnownUpstream
from hmstats.gateway.upstream.relay import UpstreamRelay
from hmstats.store.database.store import Store
from hmstats.wire.idl import hive_metastore


@dataclass
class Hive:
    """What a Hive says of itself."""

    version: str = "3.1.3"
    uuid: str | None = "one"

    def tell_uuid(self, _: object) -> str:
        if self.uuid is None:
            raise hive_metastore.MetaException("it is not told")
        return self.uuid

    @contextmanager
    def serving(self) -> Iterator[tuple[str, int]]:
        """Its address, while it runs."""
        with upstream_of(
            getName=lambda _: "metastore",
            getVersion=lambda _: self.version,
            get_metastore_db_uuid=self.tell_uuid,
        ) as address:
            yield address


@pytest.fixture
def hive() -> Hive:
    return Hive()


@contextmanager
def knowing(store: Store, address: tuple[str, int]) -> Iterator[KnownUpstream]:
    relay = UpstreamRelay([Address(*address)], 4, TIMES, None, MOST_HELD_BYTES)
    try:
        yield KnownUpstream(relay, store, "hive:9083")
    finally:
        relay.close()


def test_another_release_is_seen(store: Store, hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    with hive.serving() as address, knowing(store, address) as known:
        assert known.own_calls().generation.number == 3
        hive.version = "4.0.1"
        assert known.own_calls().generation.number == 3, "it is asked again after a minute"
        monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", 0.0)
        assert known.own_calls().generation.number == 4


def test_another_metastore_is_refused_until_the_first_one_is_back(
    store: Store, hive: Hive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", 0.0)
    with hive.serving() as address, knowing(store, address) as known:
        assert known.own_calls().generation.number == 3
        hive.uuid = "another"
        for seconds in (0.0, 60.0):
            monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", seconds)
            with pytest.raises(MetaError, match="holds statistics of metastore one, and the upstream is another"):
                known.own_calls()
        hive.uuid = "one"
        assert known.own_calls().generation.number == 3


def test_it_stays_known_while_it_is_away(store: Store, hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", 0.0)
    with hive.serving() as address, knowing(store, address) as known:
        assert known.own_calls().generation.number == 3
        with knowing(store, ("127.0.0.1", 1)) as never_seen, pytest.raises(UpstreamUnavailable):
            never_seen.own_calls()
        known._relay = UpstreamRelay([Address("127.0.0.1", 1)], 4, TIMES, None, MOST_HELD_BYTES)
        assert known.own_calls().generation.number == 3
        known._relay.close()


def test_it_is_no_other_one_while_its_database_fails(store: Store, hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", 0.0)
    with hive.serving() as address, knowing(store, address) as known:
        assert known.own_calls().generation.number == 3
        hive.uuid = None
        assert known.own_calls().generation.number == 3


def test_at_the_start_of_a_gateway_a_failing_database_is_named_as_that(store: Store, hive: Hive) -> None:
    """A gateway that starts then must not have its operator give its statistics up."""
    with hive.serving() as address:
        with knowing(store, address) as known:
            assert known.own_calls().generation.number == 3
        hive.uuid = None
        with knowing(store, address) as known:
            with pytest.raises(MetaError, match=r"holds statistics of metastore one, .* tells no UUID: try again"):
                known.own_calls()
            hive.uuid = "one"
            assert known.own_calls().generation.number == 3


def test_an_upgrade_gives_it_a_uuid(store: Store, hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Hive 3 it is known by its address."""
    monkeypatch.setattr(known_upstream, "_ASKED_SECONDS", 0.0)
    hive.version, hive.uuid = "2.3.10", None
    with hive.serving() as address, knowing(store, address) as known:
        assert known.own_calls().generation.number == 2
        hive.version, hive.uuid = "3.1.3", "one"
        assert known.own_calls().generation.number == 3
        hive.uuid = "another"
        with pytest.raises(MetaError, match="holds statistics of metastore one"):
            known.own_calls()

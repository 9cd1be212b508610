from collections.abc import Iterator
from pathlib import Path

import pytest

from hmstats.cli.serving.upstream import relay_of
from hmstats.errors import SettingsError
from hmstats.settings import load
from hmstats.store.database.store import Store
from hmstats.store.migration import migrate


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    """A store without tables."""
    url = f"sqlite:///{tmp_path}/hmstats.sqlite"
    migrate.upgrade(url)
    made = Store.open(url)
    yield made
    made.close()


def test_without_an_upstream_nothing_is_relayed(empty: Store) -> None:
    assert relay_of(load(), empty) is None


def test_an_upstream_of_several_addresses(empty: Store) -> None:
    relay = relay_of(load({"upstream": "thrift://one:1, thrift://two", "upstream_connections": 3}), empty)
    assert relay is not None
    assert relay.threads == 3
    assert relay.takes("get_table")
    assert not relay.takes("shutdown")


@pytest.mark.parametrize("address", ["https://one:1", "http://one:1/metastore", "one:1", ""])
def test_what_is_no_address_of_an_upstream_is_refused(address: str, empty: Store) -> None:
    with pytest.raises(SettingsError, match="address must be"):
        relay_of(load({"upstream": address}), empty)


@pytest.mark.parametrize(("name", "value"), [("rules", "rules.toml"), ("read_only", True), ("hive_site", "site.xml")])
def test_settings_that_relayed_calls_would_pass_by_are_refused(name: str, value: object, empty: Store) -> None:
    with pytest.raises(SettingsError, match=f"unset {name} or upstream"):
        relay_of(load({"upstream": "thrift://one:1", name: value}), empty)


def test_authorities_that_cannot_be_read_are_named(empty: Store) -> None:
    with pytest.raises(SettingsError, match=r"upstream_ca missing.pem cannot be read: No such file"):
        relay_of(load({"upstream": "thrift+tls://one:1", "upstream_ca": "missing.pem"}), empty)


def test_a_principal_of_the_upstream_needs_users_that_are_proven(empty: Store) -> None:
    with pytest.raises(SettingsError, match="upstream_principal needs authentication"):
        relay_of(load({"upstream": "thrift://one:1", "upstream_principal": "hive/_HOST@REALM"}), empty)

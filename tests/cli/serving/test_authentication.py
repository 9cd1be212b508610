"""Authentication of a server by its settings."""

from pathlib import Path

import pytest
from tests.fixtures.authorities import issued

from hmstats.cli.serving.authentication import authentication_of
from hmstats.errors import SettingsError
from hmstats.settings import load
from hmstats.store.database.store import Store


def test_none_is_the_default(store: Store) -> None:
    assert authentication_of(load(), store) is None


def test_the_environment_gives_a_json_list(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path)
    monkeypatch.setenv("HMSTATS__AUTHENTICATION", '["certificate", "token"]')
    settings = load({"tls": "accept", "tls_client_ca": files.authority, "certificate_user": "san"})
    made = authentication_of(settings, store)
    assert made is not None
    assert (made.names, made.certificate_rule, made.unencrypted) == (("certificate", "token"), "san", False)
    assert [each.name for each in made.mechanisms] == ["token"]


def test_an_unknown_mechanism_is_named() -> None:
    with pytest.raises(SettingsError, match="setting authentication"):
        load({"authentication": ["hope"]})


@pytest.mark.parametrize("given", [{"tls": "require"}, {"tls": "off", "tls_client_ca": "ca.pem"}])
def test_certificates_need_tls_and_an_authority(store: Store, given: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="needs the setting tls_client_ca, and tls = accept or require"):
        authentication_of(load({"authentication": ["certificate"], **given}), store)

"""Authentication of a server by its settings."""

import sys
from pathlib import Path

import pytest
from tests.fixtures.authorities import issued

from hmstats.cli.serving.authentication import authentication_of
from hmstats.errors import SettingsError
from hmstats.model.access.password_line import line_of
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


@pytest.mark.parametrize(("mechanism", "setting"), [("jwt", "jwt_jwks"), ("password", "password_file")])
def test_a_mechanism_without_its_file_is_named(store: Store, mechanism: str, setting: str) -> None:
    with pytest.raises(SettingsError, match=f"authentication by {mechanism} needs the setting {setting}"):
        authentication_of(load({"authentication": [mechanism]}), store)


def test_a_mechanism_takes_its_file(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.touch(mode=0o600)
    file.write_text(line_of("alice", (), "x"))
    made = authentication_of(load({"authentication": ["token", "password"], "password_file": str(file)}), store)
    assert made is not None
    assert [each.name for each in made.mechanisms] == ["token", "password"]
    made.refresh()


def test_jwt_without_its_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hmstats.server.authentication.json_web_keys", None)
    with pytest.raises(SettingsError, match=r"needs the extra jwt: pip install 'hmstats\[jwt\]'"):
        authentication_of(load({"authentication": ["jwt"], "jwt_jwks": "keys.json"}), store)

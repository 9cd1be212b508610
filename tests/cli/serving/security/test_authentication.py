"""Authentication of a server by its settings."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import issued
from tests.fixtures.identity.directory import PASSWORD, Directory
from tests.fixtures.identity.kerberos import SERVICE, Kerberos

from hmstats.cli.serving.security.authentication import authentication_of
from hmstats.errors import SettingsError
from hmstats.model.access.password_line import line_of
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.sasl import Protection
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


@pytest.mark.slow
def test_a_mechanism_takes_its_file(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.touch(mode=0o600)
    file.write_text(line_of("alice", (), "x"))
    made = authentication_of(load({"authentication": ["token", "password"], "password_file": str(file)}), store)
    assert made is not None
    assert [each.name for each in made.mechanisms] == ["token", "password"]
    made.refresh()


def test_proxy_users_need_kerberos(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__PROXY_USERS", '{"trino": {"users": ["*"], "hosts": ["*"]}}')
    with pytest.raises(SettingsError, match="proxy_users needs kerberos in the setting authentication"):
        authentication_of(load({"authentication": ["token"]}), store)


@pytest.mark.parametrize("given", ["trino", '["trino"]', '{"trino": "*"}'])
def test_proxy_users_are_a_json_object(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__PROXY_USERS", given)
    with pytest.raises(SettingsError, match="setting proxy_users"):
        load()


def test_jwt_without_its_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hmstats.server.authentication.json_web_keys", None)
    with pytest.raises(SettingsError, match=r"needs the extra jwt: pip install '\.\[jwt\]' in the folder"):
        authentication_of(load({"authentication": ["jwt"], "jwt_jwks": "keys.json"}), store)


LDAP = {"authentication": ["password"], "ldap_url": "ldap://localhost"}
LDAP_USER_DN = "uid={user},ou=people,dc=example,dc=org"


def test_a_directory_in_place_of_a_file_of_passwords(store: Store, directory: Directory) -> None:
    given = LDAP | {"ldap_url": directory.url, "ldap_user_dn": LDAP_USER_DN, "ldap_ca": directory.files.authority}
    made = authentication_of(load(given), store)
    assert made is not None
    assert [(each.name, each.over_loopback) for each in made.mechanisms] == [("password", False)]
    assert [each.name for each in made.sasl] == ["PLAIN"]
    proven = made.mechanisms[0].prove(Credential(PASSWORD, "alice"), "127.0.0.1:1")
    assert (proven.principal.user, proven.principal.groups) == ("alice", ())
    made.refresh()


def test_a_directory_and_a_file_of_passwords_are_one_too_many(store: Store) -> None:
    given = LDAP | {"ldap_user_dn": LDAP_USER_DN, "password_file": "passwords"}
    with pytest.raises(SettingsError, match="takes password_file or ldap_url, found both"):
        authentication_of(load(given), store)


def test_a_directory_needs_the_form_of_its_users(store: Store, directory: Directory) -> None:
    with pytest.raises(SettingsError, match="needs the setting ldap_user_dn or ldap_user_base, found neither"):
        authentication_of(load(LDAP), store)


def test_ldap_without_its_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hmstats.cli.serving.security.ldap", None)
    with pytest.raises(SettingsError, match=r"needs the extra ldap: pip install '\.\[ldap\]' in the folder"):
        authentication_of(load(LDAP | {"ldap_user_dn": LDAP_USER_DN}), store)


@pytest.mark.slow
def test_a_server_without_a_directory_does_not_import_ldap() -> None:
    code = (
        "import sys; sys.modules['ldap'] = None\n"  # an import of it fails
        "import hmstats.cli.serving.worker\n"
        "assert 'hmstats.server.authentication.directory.ldap_directory' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_passwords_are_taken_by_sasl_too(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.touch(mode=0o600)
    file.write_text(line_of("alice", (), "x"))
    made = authentication_of(load({"authentication": ["password"], "password_file": str(file)}), store)
    assert made is not None
    assert [(each.name, each.over_tls_only) for each in made.sasl] == [("PLAIN", True)]


@pytest.mark.slow
def test_a_server_without_kerberos_does_not_import_gssapi() -> None:
    code = (
        "import sys; sys.modules['gssapi'] = None\n"  # an import of it fails
        "import hmstats.cli.serving.worker\n"
        "assert 'hmstats.server.authentication.kerberos' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kerberos_without_its_extra_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hmstats.server.authentication.kerberos", None)
    with pytest.raises(SettingsError, match=r"needs the extra kerberos: pip install '\.\[kerberos\]' in the folder"):
        authentication_of(load({"authentication": ["kerberos"]}), store)


@pytest.mark.parametrize("protection", ["integrity", "privacy"])
def test_protection_needs_kerberos(store: Store, protection: str) -> None:
    with pytest.raises(SettingsError, match=f"protection = {protection} needs kerberos"):
        authentication_of(load({"authentication": ["token"], "protection": protection}), store)


@pytest.mark.slow  # needs a KDC, and programs that most machines lack
def test_kerberos_takes_its_settings(store: Store, kerberos: Kerberos) -> None:
    given = {
        "authentication": ["kerberos"],
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "protection": "privacy",
    }
    made = authentication_of(load(given), store)
    assert made is not None
    assert [each.name for each in made.sasl] == ["GSSAPI", "DIGEST-MD5"]
    assert made.protection is Protection.PRIVACY
    assert made.delegation is not None
    assert not made.delegation.proxies.allow("trino", "bob", "127.0.0.1")
    proxied = authentication_of(load(given | {"proxy_users": {"trino": {"users": ["b*"], "hosts": ["*"]}}}), store)
    assert proxied is not None
    assert proxied.delegation is not None
    assert proxied.delegation.proxies.allow("trino", "bob", "127.0.0.1")
    with pytest.raises(SettingsError, match="proxy_users must say users and hosts of trino"):
        authentication_of(load(given | {"proxy_users": {"trino": {"users": ["*"]}}}), store)
    Path(kerberos.keytab("alice")).chmod(0o644)
    for missing in ("kerberos_keytab", "kerberos_principal"):
        left = {name: value for name, value in given.items() if name != missing}
        with pytest.raises(SettingsError, match=f"needs the setting {missing}"):
            authentication_of(load(left), store)
    changes: list[tuple[dict[str, str], str]] = [
        ({"kerberos_keytab": kerberos.keytab("alice")}, "can be read by everybody"),
        ({"kerberos_keytab": kerberos.keytab("bob")}, f"has no usable key of {SERVICE}"),
        ({"kerberos_principal": "hive/_HOST"}, "must be SERVICE/HOST@REALM"),
        ({"kerberos_rules": "RULE"}, "kerberos_rules must have rules"),
    ]
    for changed, text in changes:
        with pytest.raises(SettingsError, match=text):
            authentication_of(load(given | changed), store)

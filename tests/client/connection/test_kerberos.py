"""The client with a ticket, against a server of ours with a real KDC."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.identity.authorities import issued
from tests.fixtures.identity.kerberos import REALM, SERVICE, Kerberos
from tests.server.authentication.test_kerberos import served
from tests.server.serving import serving

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.errors import CallRefused, ServiceUnavailable, SettingsError
from hmstats.server.authentication.sasl import Protection
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates

pytestmark = pytest.mark.slow  # needs a KDC, and programs that most machines lack

PRINCIPAL = "HMSTATS__METASTORE_PRINCIPAL"
LARGE = "x" * 3_000_000


def names(session: Session, user_name: str, group_names: list[str]) -> list[str]:
    return [user_name]


def whoami(session: Session, key: str) -> str:
    assert session.principal is not None
    return f"{session.principal.user} {session.principal.mechanism} {key}"


CALLS: dict[str, Any] = {"set_ugi": names, "getOption": whoami}


@pytest.fixture(autouse=True)
def ticket(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket of alice."""
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kerberos.tickets('alice')}")
    monkeypatch.setenv(PRINCIPAL, f"hive/_HOST@{REALM}")


def asked(uri: str) -> None:
    connection = Connection(addresses(uri), timeout_seconds=20, retries=0)
    try:
        for text in ("k", LARGE, ""):
            assert connection.call("getOption", text) == f"alice kerberos {text}"
    finally:
        connection.close()


@pytest.mark.parametrize("least", Protection)
def test_calls_under_each_protection(kerberos: Kerberos, least: Protection) -> None:
    with served(kerberos, least, **CALLS) as (_, port):
        asked(f"thrift://localhost:{port}")


def test_calls_over_tls(kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    tls = Tls(Certificates(files.certificate, files.key), required=True)
    with served(kerberos, Protection.PRIVACY, tls=tls, **CALLS) as (_, port):
        asked(f"thrift+tls://localhost:{port}")


def test_the_key_of_a_keytab_is_enough(kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/new")
    monkeypatch.setenv("KRB5_CLIENT_KTNAME", kerberos.keytab("alice"))
    with served(kerberos, **CALLS) as (_, port):
        asked(f"thrift://localhost:{port}")


def test_without_a_ticket_the_user_is_told_to_get_one(
    kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/none")
    with served(kerberos, **CALLS) as (_, port), pytest.raises(SettingsError, match=f"{re.escape(SERVICE)}.*run kinit"):
        asked(f"thrift://localhost:{port}")


def test_a_refusal_of_the_metastore_is_told(kerberos: Kerberos, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PRINCIPAL, f"hive/other@{REALM}")
    with served(kerberos, **CALLS) as (_, port), pytest.raises(CallRefused, match=r"SASL: refused: .*GSS initiate"):
        asked(f"thrift://localhost:{port}")


def test_a_metastore_without_kerberos_is_told() -> None:
    with serving(**CALLS) as (_, port), pytest.raises((CallRefused, ServiceUnavailable), match="SASL"):
        asked(f"thrift://localhost:{port}")


def test_no_ticket_is_asked_for_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/none")
    with serving(set_ugi=names) as (_, port):
        connection = Connection(addresses(f"http://localhost:{port}"), timeout_seconds=20, retries=0)
        assert connection.call("getOption", "k") == "k"
        connection.close()

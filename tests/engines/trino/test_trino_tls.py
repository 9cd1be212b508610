"""Trino over TLS: with Kerberos and impersonation inside of it, and proven by a certificate of its own."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from tests.engines.test_planners import planner
from tests.engines.trino.test_trino_tokens import PROXIES, ask, recorded
from tests.fixtures import java_peers
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.identity.kerberos import REALM, SERVICE, Kerberos
from tests.fixtures.servers import serving

pytestmark = [pytest.mark.engines, pytest.mark.slow]

_TLS = "hive.metastore.thrift.client.ssl"


@pytest.fixture(autouse=True)
def _machine_with_trino() -> None:
    java_peers.need("Trino", 25, 99)


def encrypted(files: Files, tmp_path: Path) -> dict[str, object]:
    """Settings of a server that speaks TLS alone and records its calls."""
    audit = {"audit": "all", "audit_file": tmp_path / "audit.jsonl"}
    return {"tls": "require", "tls_certificate": files.certificate, "tls_key": files.key} | audit


def flags(properties: Mapping[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in properties.items()]


def test_each_user_has_its_own_token_over_tls(
    kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = issued(tmp_path)
    given = encrypted(files, tmp_path) | {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "protection": "privacy",
        "proxy_users": json.dumps(PROXIES),
    }
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}")
    properties = {
        f"{_TLS}.enabled": "true",
        f"{_TLS}.trust-certificate": files.authority,
        "hive.metastore.authentication.type": "KERBEROS",
        "hive.metastore.service.principal": SERVICE,
        "hive.metastore.client.principal": f"alice@{REALM}",
        "hive.metastore.client.keytab": kerberos.keytab("alice"),
        "hive.metastore.thrift.impersonation.enabled": "true",
    }
    with (
        serving(tmp_path, settings=given, environment=environment) as port,
        planner("trino", port, tmp_path, *flags(properties)) as url,
    ):
        at = int(url.rpartition(":")[2])
        assert ["default"] in ask(at, "bob", "show schemas")
        assert ask(at, "x", "create schema made") == []
        with pytest.raises(RuntimeError, match=r"alice may not act as carl from 127\.0\.0\.1"):
            ask(at, "carl", "show schemas")
    of_users = {("bob", "alice", "delegation_token"), ("x", "alice", "delegation_token")}
    assert recorded(tmp_path) == {("alice", None, "kerberos")} | of_users


def test_a_certificate_says_who_trino_is(tmp_path: Path) -> None:
    authority = trustme.CA()
    files = issued(tmp_path, authority=authority)
    given = encrypted(files, tmp_path) | {
        "authentication": '["certificate"]',
        "tls_client_ca": files.authority,
        "certificate_user": "cn",
    }
    own = authority.issue_cert("trino.example.org", common_name="trino")
    key = load_pem_private_key(own.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())  # the form that Trino reads
    (tmp_path / "trino.pem").write_bytes(own.cert_chain_pems[0].bytes() + pem)
    properties = {
        f"{_TLS}.enabled": "true",
        f"{_TLS}.trust-certificate": files.authority,
        f"{_TLS}.key": str(tmp_path / "trino.pem"),
    }
    with (
        serving(tmp_path, settings=given) as port,
        planner("trino", port, tmp_path, *flags(properties)) as url,
    ):
        at = int(url.rpartition(":")[2])
        assert ["default"] in ask(at, "somebody", "show schemas")
        assert ask(at, "somebody", "create schema made") == []
    assert recorded(tmp_path) == {("trino", None, "certificate")}

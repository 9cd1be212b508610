"""The client over TLS: the certificate and its name are checked before anything is said."""

import threading
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import Files, issued
from tests.server.serving import serving

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.errors import ServiceUnavailable
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates


def names(session: Session, user_name: str, group_names: list[str]) -> list[str]:
    return [user_name]


def asked(files: Files, scheme: str = "thrift+tls", *, tls: bool = True) -> str:
    served = Tls(Certificates(files.certificate, files.key)) if tls else None
    with serving(tls=served, set_ugi=names) as (_, port):
        connection = Connection(addresses(f"{scheme}://localhost:{port}"), timeout_seconds=20, retries=0)
        try:
            answer: str = connection.call("getOption", "k")
        finally:
            connection.close()
        return answer


def test_calls_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    assert asked(files) == "k"


def test_an_unknown_authority_is_not_trusted(tmp_path: Path) -> None:
    with pytest.raises(ServiceUnavailable, match=r"certificate of thrift\+tls://localhost:\d+ is not trusted"):
        asked(issued(tmp_path))


def test_a_certificate_of_another_host_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path, "elsewhere")
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    with pytest.raises(ServiceUnavailable, match="Hostname mismatch"):
        asked(files)


def test_a_server_without_tls_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServiceUnavailable, match="does not speak TLS"):
        asked(issued(tmp_path), tls=False)
    assert not [each for each in threading.enumerate() if each.name == "hmstats-selector"]

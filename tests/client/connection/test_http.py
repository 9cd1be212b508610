"""The client over HTTP with a token, and over TLS with a certificate of its own."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
import trustme
from tests.fixtures.identity.authorities import Files, issued
from tests.server.serving import Address, serving

from hmstats.client.connection.address import addresses
from hmstats.client.connection.connection import Connection
from hmstats.client.connection.credentials import Credentials
from hmstats.errors import CallRefused, NotAuthenticated, ServiceUnavailable, SettingsError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication, Mechanism, Proven
from hmstats.server.authentication.credentials import Credential
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates

SECRET = "canary-secret"


def prove(credential: Credential, address: str) -> Proven:
    if credential.secret != SECRET:
        raise NotAuthenticated("the token is unknown, revoked or expired")
    return Proven(Principal("alice", (), "token"), 60.0)


AUTHENTICATION = Authentication(("token",), None, (Mechanism("token", "Bearer", lambda _: True, prove),))


def names(session: Session, user_name: str, group_names: list[str]) -> list[str]:
    return [user_name]


def whoami(session: Session, key: str) -> str:
    return f"{session.user} {key}"


@pytest.fixture
def plain() -> Iterator[Address]:
    with serving(authentication=AUTHENTICATION, set_ugi=names, getOption=whoami) as address:
        yield address


def asked(uri: str, text: str = "k") -> str:
    connection = Connection(addresses(uri), timeout_seconds=20, retries=0)
    try:
        answers = [connection.call("getOption", each) for each in (text, text)]
    finally:
        connection.close()
    assert answers[0] == answers[1]
    return str(answers[0])


def test_calls_over_http_with_a_token(plain: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__TOKEN", SECRET)
    assert asked(f"http://127.0.0.1:{plain[1]}") == "alice k"
    assert asked(f"http://localhost:{plain[1]}/any/path", "x" * 300_000) == "alice " + "x" * 300_000


def test_calls_over_https_with_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = issued(tmp_path)
    monkeypatch.setenv("HMSTATS__TOKEN", SECRET)
    tls = Tls(Certificates(files.certificate, files.key), required=True)
    with serving(None, tls, AUTHENTICATION, set_ugi=names, getOption=whoami) as (_, port):
        with pytest.raises(ServiceUnavailable, match=r"certificate of https://.* is not trusted"):
            asked(f"https://localhost:{port}")
        monkeypatch.setenv("SSL_CERT_FILE", files.authority)
        assert asked(f"https://localhost:{port}") == "alice k"


def test_a_refusal_is_told(plain: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    for uri in (f"thrift://127.0.0.1:{plain[1]}", f"http://127.0.0.1:{plain[1]}"):
        with pytest.raises(CallRefused, match="this server serves authenticated clients only"):
            asked(uri)
    monkeypatch.setenv("HMSTATS__TOKEN", "wrong")
    with pytest.raises(CallRefused, match="status 401: the token is unknown, revoked or expired"):
        asked(f"http://127.0.0.1:{plain[1]}")


def test_a_token_is_not_sent_in_plain_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__TOKEN", SECRET)
    with pytest.raises(SettingsError, match=r"a token is not sent to http://192\.0\.2\.1:9083/metastore unencrypted"):
        asked("http://192.0.2.1")
    assert SECRET not in repr(Credentials(SECRET))


def test_a_server_that_is_away_is_named() -> None:
    with pytest.raises(ServiceUnavailable, match=r"no metastore can be reached at http://127\.0\.0\.1:1/metastore"):
        asked("http://127.0.0.1:1")


class Redirecting(http.server.BaseHTTPRequestHandler):
    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.seen.append(self.path)
        self.send_response(307)
        self.send_header("Location", "http://localhost:1/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_token_follows_no_redirection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__TOKEN", SECRET)
    with http.server.HTTPServer(("127.0.0.1", 0), Redirecting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(CallRefused, match="status 307"):
            asked(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert Redirecting.seen == ["/metastore"]


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_files(tmp_path: Path, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> Files:
    files = issued(tmp_path, authority=authority)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    return files


@pytest.mark.parametrize("scheme", ["thrift+tls", "https"])
def test_a_certificate_of_the_client_is_shown(
    server_files: Files, authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    made = authority.issue_cert("a@example.org", common_name="alice")
    pem, key = tmp_path / "alice.pem", tmp_path / "alice.key"
    made.cert_chain_pems[0].write_to_path(pem)
    made.private_key_pem.write_to_path(key)
    key.chmod(0o644)
    tls = Tls(Certificates(server_files.certificate, server_files.key, server_files.authority), required=True)
    by_certificate = Authentication(("certificate",), "cn")
    with serving(None, tls, by_certificate, set_ugi=names, getOption=whoami) as (_, port):
        with pytest.raises(ServiceUnavailable):
            asked(f"{scheme}://localhost:{port}")
        monkeypatch.setenv("HMSTATS__CLIENT_CERTIFICATE", str(pem))
        monkeypatch.setenv("HMSTATS__CLIENT_KEY", str(key))
        with pytest.raises(SettingsError, match=r"HMSTATS__CLIENT_KEY .* can be read by everybody"):
            asked(f"{scheme}://localhost:{port}")
        key.chmod(0o600)
        assert asked(f"{scheme}://localhost:{port}") == "alice k"


def test_a_certificate_that_cannot_be_used_is_named(
    server_files: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HMSTATS__CLIENT_CERTIFICATE", str(tmp_path / "absent.pem"))
    with (
        serving(None, Tls(Certificates(server_files.certificate, server_files.key))) as (_, port),
        pytest.raises(SettingsError, match=r"HMSTATS__CLIENT_CERTIFICATE .*absent\.pem cannot be read"),
    ):
        asked(f"thrift+tls://localhost:{port}")

"""A renewed certificate of the page is in force without a restart."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
import uvicorn
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from starlette.applications import Starlette
from tests.fixtures.identity.authorities import Files, issued

from hmstats.errors import SettingsError
from hmstats.web import renewed_certificate
from hmstats.web.renewed_certificate import RenewingServer, check_pair

PATIENCE_SECONDS = 60.0


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path, "localhost", "old.example")


@pytest.fixture
def address(files: Files, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """The address of a page that looks at its certificate ten times a second."""
    monkeypatch.setattr(renewed_certificate, "LOOK_TICKS", 1)
    tls = {"ssl_certfile": files.certificate, "ssl_keyfile": files.key}
    config = uvicorn.Config(Starlette(), log_config=None, **tls)  # type: ignore[arg-type]
    config.load()
    server = RenewingServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield listening.getsockname()
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def _shown(address: tuple[str, int]) -> bytes:
    """The certificate that a new connection gets."""
    return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(address))


def _wait_for(address: tuple[str, int], certificate: bytes) -> bytes:
    until = time.monotonic() + PATIENCE_SECONDS
    while (shown := _shown(address)) != certificate and time.monotonic() < until:
        time.sleep(0.05)
    return shown


def _of(files: Files) -> bytes:
    return ssl.PEM_cert_to_DER_cert(Path(files.certificate).read_text())


def test_new_connections_get_the_new_one(address: tuple[str, int], files: Files) -> None:
    assert _shown(address) == _of(files)
    Path(files.key).write_text("half of a k")
    renewed = issued(Path(files.key).parent, "localhost", "new.example")
    assert _wait_for(address, _of(renewed)) == _of(renewed)


def test_one_that_cannot_be_used_leaves_the_old_one_in_force(address: tuple[str, int], files: Files) -> None:
    old = _of(files)
    other = trustme.CA().issue_cert("localhost")
    other.cert_chain_pems[0].write_to_path(files.certificate)  # which is not of the key
    time.sleep(0.5)
    assert _shown(address) == old
    Path(files.certificate).unlink()
    time.sleep(0.5)
    assert _shown(address) == old


def test_a_key_with_a_password_is_an_error_and_no_question(files: Files) -> None:
    key = load_pem_private_key(Path(files.key).read_bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret"))
    Path(files.key).write_bytes(locked)
    with pytest.raises(SettingsError, match="the key is encrypted; expected one without a password"):
        check_pair(files.certificate, files.key)

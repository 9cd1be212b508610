"""SASL PLAIN: the users of a password file, over TLS only."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import issued
from tests.server.authentication.sasl_peers import SaslClient, ask_plain
from tests.server.requests import request
from tests.server.serving import Address, serving

from hmstats.model.access import password_line
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.passwords import Passwords, by_password
from hmstats.server.authentication.sasl_plain import sasl_plain
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.wire.sasl_messages import Status

PASSWORD = "canary: p\u00e4ss"
WRONG = "the user or the password is wrong"


def whoami(session: Session) -> list[str]:
    assert session.principal is not None
    return [session.principal.user, *session.principal.groups, session.principal.mechanism]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Address, ssl.SSLContext]]:
    monkeypatch.setattr(password_line, "_N", 2**4)
    file = tmp_path / "passwords"
    file.touch(mode=0o600)
    file.write_text(password_line.line_of("alice", ("staff",), PASSWORD))
    passwords = by_password(Passwords(str(file)))
    authentication = Authentication(("password",), None, (passwords,), sasl=(sasl_plain(passwords),))
    files = issued(tmp_path)
    tls = Tls(Certificates(files.certificate, files.key))
    with serving(tls=tls, authentication=authentication, get_all_databases=whoami) as address:
        yield address, ssl.create_default_context(cafile=files.authority)


@pytest.mark.parametrize("status", [Status.OK, Status.COMPLETE])
def test_a_user_with_its_password_calls(served: tuple[Address, ssl.SSLContext], status: Status) -> None:
    with SaslClient(*served) as client:
        client.say(Status.START, b"PLAIN")
        client.say(status, f"alice\0alice\0{PASSWORD}".encode())
        assert client.hear() == (Status.COMPLETE, b"")
        assert client.call(request("get_all_databases", 1)).success == ["alice", "staff", "password"]


def test_a_wrong_password_is_refused_and_slowed_down_and_not_told(served: tuple[Address, ssl.SSLContext]) -> None:
    with capture_logs() as logs:
        assert [ask_plain(*served, password=PASSWORD[:-1]) for _ in range(5)] == [WRONG] * 5
        assert ask_plain(*served, user="nobody", password=PASSWORD) == WRONG
        assert "too many wrong passwords" in ask_plain(*served, password=PASSWORD)
    assert "canary" not in repr(logs)


@pytest.mark.parametrize(
    "response",
    [b"", b"\0alice", b"\0\0x", b"\0alice\0", b"\0alice\0x\0y", b"\xff\0alice\0x", f"root\0alice\0{PASSWORD}".encode()],
)
def test_another_form_or_another_user_to_act_as_is_refused(
    served: tuple[Address, ssl.SSLContext], response: bytes
) -> None:
    with SaslClient(*served) as client:
        client.say(Status.START, b"PLAIN")
        client.say(Status.OK, response)
        assert client.refused().startswith("PLAIN must")

"""Passwords that a real LDAP directory checks."""

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs
from tests.fixtures.authorities import issued
from tests.fixtures.directory import GROUP_DN, PASSWORD, USER_DN, Directory
from tests.fixtures.hive import free_port
from tests.server.authentication.peers import ask_http
from tests.server.authentication.sasl_peers import SaslClient, ask_plain
from tests.server.authentication.test_passwords import basic
from tests.server.requests import request
from tests.server.serving import PATIENCE_SECONDS, Address, serving

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.passwords import by_password
from hmstats.server.authentication.proven_passwords import ProvenPasswords
from hmstats.server.authentication.sasl_plain import sasl_plain
from hmstats.server.calls.dispatch import Session
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.wire.sasl_messages import Status

if TYPE_CHECKING:
    from hmstats.server.authentication.ldap_directory import LdapDirectory

WRONG = "the user or the password is wrong"
ALICE = Principal("alice", (), "password")


def users_of(directory: Directory, url: str | None = None, **settings: Any) -> "LdapDirectory":
    from hmstats.server.authentication.ldap_directory import LdapDirectory

    given: dict[str, Any] = {"ca": directory.files.authority, "seconds": 10.0, "cache_seconds": 0.0} | settings
    return LdapDirectory(url or directory.url, given.pop("user_dn", USER_DN), **given)


def failure(users: "LdapDirectory", user: str = "alice", password: str = PASSWORD) -> str:
    """What the log says about a directory that cannot tell; nothing of it reaches the client."""
    with capture_logs() as logs, pytest.raises(NotAuthenticated, match=r"^passwords cannot be checked now") as error:
        users.check(user, password)
    assert "canary" not in repr(logs) + str(error.value)
    (told,) = [each for each in logs if each["event"] == "ldap_failed"]
    return str(told["reason"])


def test_the_directory_says_whose_password_it_is(directory: Directory) -> None:
    users = users_of(directory)
    assert users.check("alice", PASSWORD) == ALICE
    assert users.check("alice", PASSWORD[:-1]) is None
    assert users.check("nobody", PASSWORD) is None


def test_an_empty_password_is_never_asked_about(directory: Directory) -> None:
    with directory.admin() as connection:
        connection.simple_bind_s(USER_DN.format(user="alice"), "")  # the directory itself lets it pass
    asked = directory.binds()
    users = users_of(directory)
    found = [
        users.check(*each) for each in (("alice", ""), ("", PASSWORD), ("", ""), ("alice", "\0"), ("alice\0", "x"))
    ]
    assert (found, directory.binds()) == ([None] * 5, asked)


@pytest.mark.parametrize(
    "user",
    [
        "*",
        "*)(uid=*",
        "alice)(|(uid=*)",
        "alice,ou=people,dc=example,dc=org",
        "alice,ou=x",
        "below,uid=alice",
        "alice+cn=alice",
        "alice\\",
        'alice"',
        "#616c696365",
        "x" * 5_000,
        "al\nice",
        "alice;x",
        "<alice>",
    ],
)
def test_a_name_is_one_value_whatever_is_in_it(directory: Directory, user: str) -> None:
    assert users_of(directory).check(user, PASSWORD) is None


def test_a_name_with_the_signs_of_a_dn_is_its_user(directory: Directory) -> None:
    assert users_of(directory).check("a,b+c", "other") == Principal("a,b+c", (), "password")


def test_a_name_of_another_case_or_with_spaces_is_the_user_of_the_entry(directory: Directory) -> None:
    users = users_of(directory)
    for name in ("ALICE", " alice ", "aLice"):
        assert users.check(name, PASSWORD) == ALICE
    assert users.check("bob", "other") == Principal("Bob", (), "password")


def test_groups_are_those_of_the_named_place(directory: Directory) -> None:
    found = users_of(directory, group_dn=GROUP_DN).check("alice", PASSWORD)
    assert found is not None
    assert sorted(found.groups) == ["etl", "staff"]
    other = users_of(directory, group_dn="CN={group},OU=Elsewhere,dc=example,dc=org").check("alice", PASSWORD)
    assert other == Principal("alice", ("admin",), "password")
    assert users_of(directory, group_dn=GROUP_DN).check("bob", "other") == Principal("Bob", (), "password")


def test_a_user_that_may_not_read_its_own_entry_is_told_to_the_operator(directory: Directory) -> None:
    assert "No such object" in failure(users_of(directory), "blind", "other")


def test_a_directory_that_is_away(directory: Directory) -> None:
    assert "Connection refused" in failure(users_of(directory, f"ldap://localhost:{free_port()}"))


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_directory_that_never_answers_is_given_up(directory: Directory, silent: int) -> None:
    assert "Can't contact LDAP server" in failure(users_of(directory, f"ldap://localhost:{silent}", seconds=0.3))


def test_a_directory_that_never_begins_tls_is_given_up(directory: Directory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def agree() -> None:
            client, _ = listening.accept()
            with client:
                client.recv(1_000)
                client.sendall(bytes.fromhex("300c02010178070a010004000400"))  # a success, to the request for StartTLS
                while client.recv(1_000):
                    pass

        agreeing = threading.Thread(target=agree)
        agreeing.start()
        assert failure(users_of(directory, f"ldap://localhost:{listening.getsockname()[1]}", seconds=0.3))
        agreeing.join(PATIENCE_SECONDS)
        assert not agreeing.is_alive()


def test_a_directory_with_another_certificate_gets_no_password(directory: Directory, tmp_path: Path) -> None:
    url = directory.url
    asked = directory.binds()
    assert failure(users_of(directory, url, ca=issued(tmp_path).authority))
    assert failure(users_of(directory, url, ca=None))  # the system's authorities
    # OpenLDAP takes localhost for the machine's full name, which the certificate lacks.
    assert failure(users_of(directory, url.replace("127.0.0.1", "localhost")))
    assert directory.binds() == asked


def test_a_proven_password_is_not_asked_about_again(directory: Directory) -> None:
    users = users_of(directory, cache_seconds=3_600.0)
    asked = directory.binds()
    assert [users.check("alice", PASSWORD) for _ in range(3)] == [ALICE] * 3
    assert directory.binds() == asked + 1
    with directory.password("alice", "new"):
        assert users.check("alice", PASSWORD) == ALICE
        assert users.check("alice", "new") == ALICE  # is the one that counts now
        assert users.check("alice", PASSWORD) is None
        assert directory.binds() == asked + 3


def test_a_wrong_password_makes_the_directory_be_asked_again(directory: Directory) -> None:
    users = users_of(directory, cache_seconds=3_600.0)
    assert users.check("alice", PASSWORD) == ALICE
    with directory.password("alice", "new"):
        assert users.check("alice", "wrong") is None
        assert users.check("alice", PASSWORD) is None


def test_proven_passwords_end_and_memory_is_bounded() -> None:
    now = [1_000.0]
    proven = ProvenPasswords(60.0, lambda: now[0])
    proven.keep("alice", PASSWORD, ALICE)
    now[0] += 59.0
    assert (proven.find("alice", PASSWORD), proven.find("alice", "other")) == (ALICE, None)
    assert proven.find("bob", PASSWORD) is None
    now[0] += 1.0
    assert proven.find("alice", PASSWORD) is None
    for number in range(10_100):
        proven.keep(f"user{number}", PASSWORD, ALICE)
    assert len(proven._kept) == 10_000
    assert "canary" not in repr(proven._kept)


@pytest.mark.parametrize(
    "url",
    ["http://a", "ldap://", "ldap://a/dc=x", "ldap://a?x", "localhost", "ldaps://x", "ldap://a:x", "ldap://a:b@c"],
)
def test_another_address_is_refused(directory: Directory, url: str) -> None:
    with pytest.raises(SettingsError, match="ldap_url must be ldap://HOST"):
        users_of(directory, url)


@pytest.mark.parametrize(
    "dn", ["{user}", "uid=alice", "cn=x,uid={user}", "uid={user},ou={user}", "uid=a{user}", "", "="]
)
def test_another_form_of_names_is_refused(directory: Directory, dn: str) -> None:
    with pytest.raises(SettingsError, match=r"ldap_user_dn must be a DN that begins with ATTRIBUTE={user}"):
        users_of(directory, user_dn=dn)


def test_a_file_without_authorities_is_refused(directory: Directory, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("none")
    for file in (tmp_path / "ca.pem", tmp_path / "absent"):
        with pytest.raises(SettingsError, match="ldap_ca must be a PEM file of authorities"):
            users_of(directory, ca=str(file))


def whoami(session: Session) -> list[str]:
    assert session.principal is not None
    return [session.principal.user, *sorted(session.principal.groups), session.principal.mechanism]


@pytest.fixture
def served(directory: Directory, tmp_path: Path) -> Iterator[tuple[Address, ssl.SSLContext]]:
    mechanism = by_password(users_of(directory, group_dn=GROUP_DN, cache_seconds=3_600.0))
    authentication = Authentication(("password",), None, (mechanism,), sasl=(sasl_plain(mechanism),))
    files = issued(tmp_path)
    tls = Tls(Certificates(files.certificate, files.key))
    with serving(tls=tls, authentication=authentication, get_all_databases=whoami) as address:
        yield address, ssl.create_default_context(cafile=files.authority)


def test_users_call_by_plain_and_by_http(directory: Directory, served: tuple[Address, ssl.SSLContext]) -> None:
    address, context = served
    asked = directory.binds()
    with SaslClient(*served) as client:
        client.say(Status.START, b"PLAIN")
        client.say(Status.COMPLETE, f"\0alice\0{PASSWORD}".encode())
        assert client.hear() == (Status.COMPLETE, b"")
        assert client.call(request("get_all_databases", 1)).success == ["alice", "etl", "staff", "password"]
    assert ask_http(address, context, **basic("alice", PASSWORD)) == "k"
    assert ask_plain(*served, password=PASSWORD) == "k"
    assert directory.binds() == asked + 1
    assert "a password is taken over TLS only" in ask_http(address, None, **basic("alice", PASSWORD))


def test_wrong_passwords_are_refused_and_slowed_down(
    directory: Directory, served: tuple[Address, ssl.SSLContext]
) -> None:
    address, context = served
    with capture_logs() as logs:
        assert ask_http(address, context, **basic("nobody", PASSWORD)) == f"401 {WRONG}\n"
        assert [ask_plain(*served, password=PASSWORD[:-1]) for _ in range(5)] == [WRONG] * 5
        asked = directory.binds()
        assert "too many wrong passwords" in ask_plain(*served, password=PASSWORD)
        assert "too many wrong passwords" in ask_http(address, context, **basic("alice", PASSWORD))
    assert directory.binds() == asked
    assert "canary" not in repr(logs)

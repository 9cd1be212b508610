"""Passwords that a real LDAP directory checks."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.identity.directory import GROUP_DN, PASSWORD, SEARCHER, SEARCHER_PASSWORD, USER_DN, Directory
from tests.fixtures.ports import free_port
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
from hmstats.settings import Settings
from hmstats.wire.sasl_messages import Status

if TYPE_CHECKING:
    from hmstats.server.authentication.directory.ldap_directory import LdapDirectory

WRONG = "the user or the password is wrong"
ALICE = Principal("alice", (), "password")


def users_of(directory: Directory, url: str | None = None, **settings: Any) -> "LdapDirectory":
    """The users of a directory, by their DN unless there is a base to search below."""
    from hmstats.cli.serving.security.ldap import directory_of

    given: dict[str, Any] = {"ca": directory.files.authority, "seconds": 10.0, "cache_seconds": 0.0} | settings
    if "user_base" not in given:
        given = {"user_dn": USER_DN} | given
    named = {f"ldap_{name}": value for name, value in given.items()}
    return directory_of(Settings(**named), url or directory.url)


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


def test_a_directory_whose_handshake_never_ends_is_given_up(directory: Directory, silent: int) -> None:
    before = set(threading.enumerate())
    assert failure(users_of(directory, f"ldaps://localhost:{silent}", seconds=0.3))
    assert not set(threading.enumerate()) - before


@contextlib.contextmanager
def tls_and_no_more(files: Files) -> Iterator[str]:
    """The address of a server that agrees to one handshake, and says nothing behind it."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)

    def agree(listening: socket.socket) -> None:
        with (
            contextlib.suppress(OSError),
            context.wrap_socket(listening.accept()[0], server_side=True) as client,
        ):
            while client.recv(1_000):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        agreeing = threading.Thread(target=agree, args=(listening,))
        agreeing.start()
        yield f"ldaps://127.0.0.1:{listening.getsockname()[1]}"
        agreeing.join(PATIENCE_SECONDS)
        assert not agreeing.is_alive()


def test_a_directory_that_says_nothing_behind_its_handshake_is_given_up(directory: Directory) -> None:
    before = set(threading.enumerate())
    with tls_and_no_more(directory.files) as address:
        assert "Can't contact LDAP server" in failure(users_of(directory, address, seconds=0.5))
    assert not set(threading.enumerate()) - before


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


@pytest.fixture(params=["url", "encrypted_url"])
def url(directory: Directory, request: pytest.FixtureRequest) -> str:
    """The directory with StartTLS, and with TLS from the first byte."""
    return str(getattr(directory, request.param))


def test_a_directory_that_speaks_tls_from_the_first_byte(directory: Directory) -> None:
    users = users_of(directory, directory.encrypted_url, group_dn=GROUP_DN)
    found = users.check("alice", PASSWORD)
    assert found is not None
    assert (found.user, sorted(found.groups)) == ("alice", ["etl", "staff"])
    assert users.check("alice", PASSWORD[:-1]) is None
    assert failure(users_of(directory, directory.url.replace("ldap:", "ldaps:"), seconds=2.0))  # speaks plain there
    assert failure(users_of(directory, directory.encrypted_url.replace("ldaps:", "ldap:"), seconds=2.0))


def test_many_users_prove_themselves_at_once(directory: Directory, url: str) -> None:
    users = users_of(directory, url)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: users.check("alice", PASSWORD if number % 2 else "x"), range(40)))
    assert found == [None, ALICE] * 20


def test_a_directory_with_another_certificate_gets_no_password(directory: Directory, url: str, tmp_path: Path) -> None:
    asked = directory.binds()
    assert failure(users_of(directory, url, ca=issued(tmp_path).authority))
    assert failure(users_of(directory, url, ca=None))  # the system's authorities
    assert directory.binds() == asked


def test_a_directory_with_another_name_gets_no_password(directory: Directory, tmp_path: Path) -> None:
    asked = directory.binds()
    # OpenLDAP takes localhost for the machine's full name, which the certificate lacks.
    assert failure(users_of(directory, directory.url.replace("127.0.0.1", "localhost")))
    assert directory.binds() == asked
    files = issued(tmp_path, "elsewhere.example.org")
    with tls_and_no_more(files) as address:
        assert "certificate is not valid for '127.0.0.1'" in failure(users_of(directory, address, ca=files.authority))


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
    proven.put("alice", PASSWORD, ALICE)
    now[0] += 59.0
    assert (proven.find("alice", PASSWORD), proven.find("alice", "other")) == (ALICE, None)
    assert proven.find("bob", PASSWORD) is None
    now[0] += 1.0
    assert proven.find("alice", PASSWORD) is None
    for number in range(10_100):
        proven.put(f"user{number}", PASSWORD, ALICE)
    assert len(proven._proven) == 10_000
    assert "canary" not in repr(proven._proven)


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "ldap://",
        "ldap://a/dc=x",
        "ldap://a?x",
        "localhost",
        "ldaps://",
        "ldaps://x/",
        "ldap://a:x",
        "ldap://a:@c",
    ],
)
def test_another_address_is_refused(directory: Directory, url: str) -> None:
    with pytest.raises(SettingsError, match=r"ldap_url must|must have no password"):
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


PEOPLE = "ou=people,dc=example,dc=org"


@pytest.fixture
def searching(tmp_path: Path) -> dict[str, str]:
    """The settings of a search by an account."""
    file = tmp_path / "searcher"
    file.touch(mode=0o600)
    file.write_text(f"{SEARCHER_PASSWORD}\n")
    return {"user_base": PEOPLE, "bind_dn": SEARCHER, "bind_password_file": str(file)}


def test_a_user_is_searched_for(directory: Directory, url: str, searching: dict[str, str]) -> None:
    users = users_of(directory, url, group_dn=GROUP_DN, **searching)
    found = users.check("ALICE", PASSWORD)
    assert found is not None
    assert (found.user, sorted(found.groups)) == ("alice", ["etl", "staff"])
    assert users.check("below", PASSWORD) == Principal("below", (), "password")  # deeper than the others
    assert users.check("a,b+c", "other") == Principal("a,b+c", (), "password")
    assert users.check("alice", PASSWORD[:-1]) is None
    assert users.check("nobody", PASSWORD) is None


def test_a_search_needs_no_account(directory: Directory) -> None:
    given = {"user_base": PEOPLE, "user_filter": "(&(objectClass=person)(cn={user}))", "user_attribute": "CN"}
    users = users_of(directory, **given)
    assert users.check("bob", "other") == Principal("Bob", (), "password")
    assert users.check("searcher", SEARCHER_PASSWORD) is None  # is not below the base


@pytest.mark.parametrize(
    "user", ["*", "*)(uid=*", "alice)(|(uid=*)", "al*", "alice)", "(", "\\61lice", "x" * 5_000, "&"]
)
def test_a_name_is_one_value_of_a_filter(directory: Directory, searching: dict[str, str], user: str) -> None:
    assert users_of(directory, **searching).check(user, PASSWORD) is None


def test_a_filter_that_finds_several_users_proves_nobody(directory: Directory, searching: dict[str, str]) -> None:
    users = users_of(directory, user_filter="(cn={user})", user_attribute="cn", **searching)
    asked = directory.binds()
    assert "must find one entry" in failure(users, "twin")
    assert "Size limit exceeded" in failure(users_of(directory, user_filter="(|(uid={user})(uid=*))", **searching))
    assert directory.binds() == asked + 2  # the account's alone
    several = users_of(directory, user_filter="(sn={user})", **searching)
    assert "expected one uid of uid=twin1,ou=people,dc=example,dc=org" in failure(several, "twin1")


GROUPS = "ou=groups,dc=example,dc=org"


def test_groups_are_searched_for(directory: Directory, url: str, searching: dict[str, str]) -> None:
    for users in (
        users_of(directory, url, group_base=GROUPS),  # as the user itself
        users_of(directory, url, group_base=GROUPS, **searching),
    ):
        found = users.check("ALICE", PASSWORD)
        assert found is not None
        assert (found.user, sorted(found.groups)) == ("alice", ["etl", "staff"])  # not admin, which lies elsewhere
        assert users.check("bob", "other") == Principal("Bob", (), "password")
        assert users.check("a,b+c", "other") == Principal("a,b+c", (), "password")
        assert users.check("alice", "wrong") is None


def test_groups_are_searched_for_by_the_account_if_there_is_one(
    directory: Directory, searching: dict[str, str]
) -> None:
    asked = directory.binds()
    assert users_of(directory, group_base=GROUPS, **searching).check("alice", PASSWORD)
    assert directory.binds() == asked + 3  # the account, the user, the account again
    assert users_of(directory, group_base=GROUPS, **searching).check("alice", "wrong") is None
    assert directory.binds() == asked + 5


def test_a_group_may_name_its_members_by_their_names(directory: Directory) -> None:
    entry = {"objectClass": ["posixGroup"], "cn": ["unix"], "gidNumber": ["7"]}
    members = ["alice", "a,b+c", "{dn}", "*"]
    dn = f"cn=unix,{GROUPS}"
    with directory.admin() as connection:
        values = [(name, [each.encode() for each in given]) for name, given in (entry | {"memberUid": members}).items()]
        connection.add_s(dn, values)
        try:
            named = {"group_base": GROUPS, "group_filter": "(memberUid={user})"}
            users = users_of(directory, **named)
            assert users.check("alice", PASSWORD) == Principal("alice", ("unix",), "password")
            assert users.check("a,b+c", "other") == Principal("a,b+c", ("unix",), "password")
            assert users.check("Bob", "other") == Principal("Bob", (), "password")
            both = users_of(directory, **named | {"group_filter": "(|(memberUid={user})(member={dn}))"})
            found = both.check("alice", PASSWORD)
            assert found is not None
            assert sorted(found.groups) == ["etl", "staff", "unix"]
            by_number = users_of(directory, group_attribute="gidNumber", **named).check("alice", PASSWORD)
            assert by_number == Principal("alice", ("7",), "password")
        finally:
            connection.delete_s(dn)


def test_names_stay_one_value_of_a_filter_of_groups() -> None:
    pytest.importorskip("ldap")
    from hmstats.server.authentication.directory.ldap_names import FilterTemplate

    template = FilterTemplate.read("s", "(|(memberUid={user})(member={dn}))", "{dn}", "{user}")
    assert template.of("*)(x", "{user}") == r"(|(memberUid=\2a\29\28x)(member={user}))"
    assert template.of("{dn}", "uid=a") == "(|(memberUid={dn})(member=uid=a))"


def test_a_user_whose_groups_cannot_be_told_is_not_authenticated(directory: Directory) -> None:
    assert "No such object" in failure(users_of(directory, group_base="ou=absent,dc=example,dc=org"))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"group_dn": GROUP_DN}, "take ldap_group_dn, for memberOf, or ldap_group_base, found both"),
        ({"group_base": "groups"}, "ldap_group_base must be a DN, found groups"),
        ({"group_filter": "(member=*)"}, "ldap_group_filter must be a filter in brackets with {dn} or {user} in it"),
    ],
)
def test_a_search_for_groups_without_sense_is_refused(
    directory: Directory, changed: dict[str, str], reason: str
) -> None:
    with pytest.raises(SettingsError, match=re.escape(reason)):
        users_of(directory, **{"group_base": GROUPS} | changed)


def test_an_account_that_the_directory_refuses_is_told_to_the_operator(
    directory: Directory, searching: dict[str, str]
) -> None:
    users = users_of(directory, **searching)
    assert users.check("alice", PASSWORD) == ALICE
    Path(searching["bind_password_file"]).write_text("another")
    assert f"the directory refuses ldap_bind_dn {SEARCHER}" in failure(users)
    Path(searching["bind_password_file"]).write_text("")
    assert "must begin with a password" in failure(users)
    Path(searching["bind_password_file"]).unlink()
    assert "ldap_bind_password_file" in failure(users)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"user_dn": USER_DN}, "needs the setting ldap_user_dn or ldap_user_base, found both"),
        ({"user_base": "people"}, "ldap_user_base must be a DN, found people"),
        ({"bind_dn": "searcher"}, "ldap_bind_dn must be a DN, found searcher"),
        ({"bind_password_file": None}, "belong together, found one of them"),
        ({"user_filter": "uid={user}"}, "ldap_user_filter must be a filter in brackets"),
        ({"user_filter": "(uid=*)"}, "ldap_user_filter must be a filter in brackets with {user} in it"),
    ],
)
def test_a_search_without_sense_is_refused(
    directory: Directory, searching: dict[str, str], changed: dict[str, str | None], reason: str
) -> None:
    with pytest.raises(SettingsError, match=re.escape(reason)):
        users_of(directory, **searching | changed)


def test_an_account_whose_password_everybody_can_read_is_refused(
    directory: Directory, searching: dict[str, str]
) -> None:
    Path(searching["bind_password_file"]).chmod(0o644)
    with pytest.raises(SettingsError, match="can be read by everybody"):
        users_of(directory, **searching)


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

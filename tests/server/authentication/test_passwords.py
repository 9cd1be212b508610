"""Passwords: a file of hashes, over TLS only, and what trying costs."""

import base64
import ssl
import threading
from contextlib import closing
from pathlib import Path

import bcrypt
import pytest
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import issued
from tests.server.authentication.peers import CALL, ask_http, connection_to, post
from tests.server.serving import PATIENCE_SECONDS, look_twice, serving

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access import password_line
from hmstats.model.access.principal import Principal
from hmstats.server.authentication.authentication import Authentication
from hmstats.server.authentication.credentials import Credential
from hmstats.server.authentication.guessing import Guessing
from hmstats.server.authentication.passwords import Passwords, by_password
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates

PASSWORD = "canary: p\u00e4ss"
WRONG = "401 the user or the password is wrong\n"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(password_line, "_N", 2**4)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "passwords"
    lines = ["# users", password_line.line_of("alice", ("staff", "etl"), PASSWORD), "", line("bob", "other")]
    written(file, "\n".join(lines))
    return file


def line(user: str, password: str, *groups: str) -> str:
    return password_line.line_of(user, groups, password)


def written(file: Path, text: str, mode: int = 0o600) -> None:
    file.unlink(missing_ok=True)
    file.touch(mode=mode)
    file.chmod(mode)
    file.write_text(text)


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def test_a_line_is_of_its_password_alone() -> None:
    read = password_line.read_line(line("alice", PASSWORD))
    assert read.is_of(PASSWORD)
    assert not [wrong for wrong in ("", PASSWORD + " ", PASSWORD[:-1], "x" * 5_000) if read.is_of(wrong)]
    assert line("alice", PASSWORD) != line("alice", PASSWORD)
    assert PASSWORD not in line("alice", PASSWORD) + repr(read)


HTPASSWD = "carol:$2y$08$ngCZaf7b07f9qqMCc5kgLuL5zNYocucuzm.ys6wEupwXIQ7zrmh5."
"""Of `htpasswd -nbBC 8 carol 'canary: pass'`."""


@pytest.mark.parametrize(("behind", "groups"), [("", ()), (":staff,etl", ("staff", "etl"))])
def test_a_line_of_htpasswd_is_taken(behind: str, groups: tuple[str, ...]) -> None:
    read = password_line.read_line(HTPASSWD + behind)
    assert (read.user, read.groups) == ("carol", groups)
    assert read.is_of("canary: pass")
    assert not [wrong for wrong in ("", "canary: pass ", "canary", "x" * 5_000) if read.is_of(wrong)]
    assert HTPASSWD[-31:] not in repr(read)


def test_a_password_whose_end_bcrypt_does_not_read_is_wrong() -> None:
    text = bcrypt.hashpw(b"p" * 72, bcrypt.gensalt(8)).decode()
    read = password_line.read_line(f"carol:{text}")
    assert (read.is_of("p" * 72), read.is_of("p" * 73)) == (True, False)


@pytest.mark.parametrize("cost", [4, 31])
def test_a_cost_of_bcrypt_that_is_out_of_bounds_is_refused(cost: int) -> None:
    with pytest.raises(SettingsError, match=f"user 'carol' .* must have a cost of 8 to 16, found {cost}") as error:
        password_line.read_line(HTPASSWD.replace("$08$", f"${cost:02}$"))
    assert HTPASSWD[-31:] not in str(error.value)


def test_users_of_htpasswd_and_others_stand_in_one_file(file: Path) -> None:
    written(file, file.read_text() + f"\n{HTPASSWD}\n")
    users = Passwords(str(file))
    assert users.check("carol", "canary: pass") == Principal("carol", (), "password")
    assert users.check("alice", PASSWORD) is not None
    assert users.check("carol", PASSWORD) is None
    assert users.check("dave", "canary: pass") is None


def test_a_right_password_is_hashed_once_a_minute_until_the_file_changes(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    is_of = password_line.PasswordLine.is_of

    def counted(of: password_line.PasswordLine, password: str) -> bool:
        hashed.append(password)
        return is_of(of, password)

    monkeypatch.setattr(password_line.PasswordLine, "is_of", counted)
    users = Passwords(str(file))
    assert [users.check("alice", PASSWORD) for _ in range(3)] == [Principal("alice", ("staff", "etl"), "password")] * 3
    assert hashed == [PASSWORD]
    assert users.check("alice", "wrong") is None
    assert users.check("alice", "wrong") is None
    assert hashed == [PASSWORD, "wrong", "wrong"]
    assert users.check("alice", PASSWORD) is not None
    assert hashed[3:] == [PASSWORD]
    written(file, line("alice", "new"))
    look_twice(users)
    assert users.check("alice", PASSWORD) is None
    assert users.check("alice", "new") == Principal("alice", (), "password")


@pytest.mark.parametrize(
    "text",
    [
        "alice:secret",
        "alice:scrypt$16$8$1$x$y:",
        "alice:md5$16$8$1$AAAAAAAAAAAAAAAAAAAAAA==$" + "A" * 43 + "=",
        "alice:scrypt$17$8$1$AAAAAAAAAAAAAAAAAAAAAA==$" + "A" * 43 + "=",
        "alice:scrypt$1048576$64$1$AAAAAAAAAAAAAAAAAAAAAA==$" + "A" * 43 + "=",
        "alice:scrypt$16$8$1$AAAA$" + "A" * 43 + "=",
    ],
)
def test_lines_that_are_none_are_named_by_their_user(text: str) -> None:
    with pytest.raises(SettingsError, match="line of user 'alice'") as error:
        password_line.read_line(text)
    assert "AAAA" not in str(error.value)


def test_a_line_that_may_be_a_password_alone_is_not_told() -> None:
    with pytest.raises(SettingsError, match=r"a line of a password file must be .*, found one without :") as error:
        password_line.read_line("hunter2")
    assert "hunter2" not in str(error.value)


def test_names_and_passwords_that_fit_no_line() -> None:
    for user, password in (("a:b", "x"), ("a,b", "x"), ("", "x"), ("a", ""), ("a", "x" * 2_000), ("a\nb", "x")):
        with pytest.raises(SettingsError):
            line(user, password)


def test_a_file_that_everybody_reads_is_refused(file: Path) -> None:
    file.chmod(0o644)
    with pytest.raises(SettingsError, match=r"password_file .* can be read by everybody, found mode 644"):
        Passwords(str(file))
    with pytest.raises(SettingsError, match=r"password_file absent cannot be read"):
        Passwords("absent")


def test_two_lines_of_one_user_are_refused(file: Path) -> None:
    written(file, "\n".join([line("a", "x"), line("a", "y")]))
    with pytest.raises(SettingsError, match="found two of one"):
        Passwords(str(file))


def test_a_user_of_a_file_that_is_being_written_is_in_no_fewer_groups(file: Path) -> None:
    passwords = Passwords(str(file))
    whole = line("alice", PASSWORD, "staff", "etl", "contractors")
    for size in (0, whole.index(",etl"), len(whole)):  # the second is a whole line too
        written(file, whole[:size])
        passwords.refresh()
        assert passwords.check("alice", PASSWORD) == Principal("alice", ("staff", "etl"), "password")
    passwords.refresh()
    assert passwords.check("alice", PASSWORD) == Principal("alice", ("staff", "etl", "contractors"), "password")


def test_a_changed_file_is_read_and_a_wrong_one_is_not(file: Path) -> None:
    passwords = Passwords(str(file))
    assert passwords.check("alice", PASSWORD) == Principal("alice", ("staff", "etl"), "password")
    assert (passwords.check("alice", "other"), passwords.check("carol", PASSWORD)) == (None, None)
    written(file, line("carol", "new"))
    look_twice(passwords)
    assert passwords.check("alice", PASSWORD) is None
    assert passwords.check("carol", "new") is not None
    for text, mode in (("carol", 0o600), (line("dave", "x"), 0o644)):
        written(file, text, mode)
        with capture_logs() as logs:
            look_twice(passwords)
        assert [each["event"] for each in logs] == ["passwords_not_read"]
        assert passwords.check("carol", "new") is not None


def test_a_password_counts_over_tls_only(file: Path, tmp_path: Path) -> None:
    authentication = Authentication(("password",), None, (by_password(Passwords(str(file))),))
    files = issued(tmp_path)
    context = ssl.create_default_context(cafile=files.authority)
    tls = Tls(Certificates(files.certificate, files.key))
    with capture_logs() as logs, serving(tls=tls, authentication=authentication) as address:
        assert ask_http(address, context, **basic("alice", PASSWORD)) == "k"
        assert ask_http(address, context, **basic("alice", "other")) == WRONG
        assert ask_http(address, context, **basic("carol", PASSWORD)) == WRONG
        assert "a password is taken over TLS only" in ask_http(address, None, **basic("alice", PASSWORD))
        with closing(connection_to(address, context)) as connection:
            _, headers, _ = post(connection, CALL, {})
        assert headers["WWW-Authenticate"] == 'Basic realm="hmstats"'
    assert "canary" not in repr(logs)


def test_an_unknown_user_costs_as_much_as_a_known_one(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    real = password_line._scrypt

    def counting(password: bytes, salt: bytes, cost: tuple[int, int, int]) -> bytes:
        counted.append(cost)
        return real(password, salt, cost)

    passwords = Passwords(str(file))
    monkeypatch.setattr(password_line, "_scrypt", counting)
    for user in ("alice", "carol", ""):
        passwords.check(user, "x")
    assert len(counted) == 3
    assert len(set(counted)) == 1


def test_a_guesser_of_passwords_does_not_hold_up_tokens(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmstats.server.authentication.authentication import Mechanism, Proven

    go_on = threading.Event()
    passwords = Passwords(str(file))
    monkeypatch.setattr(passwords, "check", lambda user, password: go_on.wait(PATIENCE_SECONDS) and None)

    def prove(credential: Credential, address: str) -> Proven:
        return Proven(Principal("etl", (), "token"), 0.0)

    token = Mechanism("token", "Bearer", lambda credential: credential.user is None, prove)
    authentication = Authentication(("token", "password"), None, (token, by_password(passwords)), unencrypted=True)
    with serving(authentication=authentication) as address:
        guessers = [
            threading.Thread(target=ask_http, args=(address, None), kwargs=basic(f"u{number}", "x"))
            for number in range(10)
        ]
        for each in guessers:
            each.start()
        for _ in range(5):
            assert ask_http(address, None, Authorization="Bearer x") == "k"
        go_on.set()
        for each in guessers:
            each.join(PATIENCE_SECONDS)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_tries_after_failures_wait_longer_and_longer() -> None:
    clock = Clock()
    guessing = Guessing(clock)
    for _ in range(5):
        guessing.allow("a", "alice")
        guessing.count_failure("a", "alice")
    pauses = []
    for _ in range(9):
        began = clock.now
        while True:
            try:
                guessing.allow("a", "alice")
                break
            except NotAuthenticated:
                clock.now += 0.5
        pauses.append(clock.now - began)
        guessing.count_failure("a", "alice")
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    guessing.allow("b", "alice")
    guessing.allow("a", "bob")
    clock.now += 60
    guessing.allow("a", "alice")
    guessing.clear_failures("a", "alice")
    guessing.count_failure("a", "alice")
    guessing.allow("a", "alice")


def test_many_users_from_one_address_are_slowed_too_and_memory_is_bounded() -> None:
    clock = Clock()
    guessing = Guessing(clock)
    for number in range(60):
        guessing.count_failure("a", f"user{number}")
    with pytest.raises(NotAuthenticated, match="too many wrong passwords; try again in 2 seconds"):
        guessing.allow("a", "another")
    guessing.allow("b", "another")
    clock.now += 2
    guessing.allow("a", "another")
    for number in range(30_000):
        guessing.count_failure("a", f"user{number}")
    assert len(guessing._failures) <= 10_000


def test_other_spellings_of_a_user_share_its_failures() -> None:
    """A directory takes all of them for one user."""
    guessing = Guessing(Clock())
    for user in ("alice", "ALICE", "Alice", "\uff41lice", "aLICE"):
        guessing.allow("a", user)
        guessing.count_failure("a", user)
    with pytest.raises(NotAuthenticated, match="too many wrong passwords; try again in 1 seconds"):
        guessing.allow("a", "alicE")
    guessing.clear_failures("a", "Alice")
    guessing.allow("a", "alicE")


@pytest.mark.parametrize("user", ["", "a" * 257, "a\nb", " alice"])
def test_a_name_that_no_user_has_is_refused_without_a_look(user: str) -> None:
    class NeverAsked:
        def check(self, user: str, password: str) -> Principal | None:
            raise AssertionError

    mechanism = by_password(NeverAsked())
    for _ in range(60):  # and without a count, whose names would fill the memory
        with pytest.raises(NotAuthenticated, match="the user or the password is wrong"):
            mechanism.prove(Credential("x", user), "10.0.0.1:1")

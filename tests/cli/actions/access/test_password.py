"""`hmstats password`: a line for a password file, of a password that stands on no command line."""

import getpass
import json

import pytest
from typer.testing import CliRunner

from hmstats.cli.actions.access import password
from hmstats.cli.main import app
from hmstats.errors import SettingsError
from hmstats.model.access.password_line import read_line


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_a_line_is_made_of_standard_input(as_json: bool) -> None:
    arguments = ["password", "alice", "--group", "a", "--group", "b", *(["--json"] if as_json else [])]
    printed = CliRunner().invoke(app, arguments, input="canary\n", catch_exceptions=False).stdout.strip()
    read = read_line(json.loads(printed)["line"] if as_json else printed)
    assert (read.user, read.groups, read.is_of("canary")) == ("alice", ("a", "b"), True)
    assert "canary" not in printed


def test_an_empty_password_is_refused() -> None:
    with pytest.raises(SettingsError, match="a password must have 1 to 1024 bytes, found 0"):
        CliRunner().invoke(app, ["password", "alice"], input="\n", catch_exceptions=False)


def test_a_password_is_typed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["one", "two"])
    monkeypatch.setattr(getpass, "getpass", lambda _: next(typed))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(SettingsError, match="the two passwords differ"):
        password._password()

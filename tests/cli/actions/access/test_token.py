"""`hmstats token`: made, listed and revoked while a server has the database; the secret is shown once."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.servers import HMSTATS, serving
from typer.testing import CliRunner, Result

from hmstats.cli.main import app
from hmstats.errors import SettingsError
from hmstats.settings import load


def token(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["token", *arguments], catch_exceptions=False)


def ping(port: int, secret: str | None, scheme: str = "http") -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "HMSTATS__TOKEN"}
    if secret is not None:
        environment["HMSTATS__TOKEN"] = secret
    command = [HMSTATS, "ping", "--metastore", f"{scheme}://127.0.0.1:{port}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'hmstats.sqlite'}"


@pytest.mark.slow
def test_a_token_opens_a_server_that_has_its_database_alone(tmp_path: Path, database: str) -> None:
    settings = {"authentication": '["token"]', "exclusive": True, "workers": 1}
    with serving(tmp_path, settings=settings) as port:
        refused = ping(port, None)
        assert (refused.returncode, "authenticated clients only" in refused.stderr) == (2, True), refused.stderr
        assert "authenticated clients only" in ping(port, None, "thrift").stderr
        secret = token("create", "etl", "--user", "alice", "--expires", "90d", "--database", database).stdout.strip()
        served = ping(port, secret)
        assert (served.returncode, served.stdout.startswith("alive")) == (0, True), served.stderr
        assert token("revoke", "etl", "--database", database).exit_code == 0
    log = (tmp_path / "server.log").read_text()
    assert "authenticated clients only" in log
    assert secret not in refused.stderr + served.stdout + served.stderr + log


def test_a_list_shows_no_secret(database: str) -> None:
    CliRunner().invoke(app, ["migrate", "--database", database], catch_exceptions=False)
    assert token("list", "--database", database).stdout == "there are no tokens\n"
    assert token("list", "--database", database, "--json").stdout == ""
    made = token("create", "etl", "--user", "alice", "--group", "a", "--group", "b", "--database", database, "--json")
    secret = json.loads(made.stdout)["token"]
    token("create", "old", "--user", "bob", "--expires", "1s", "--database", database)
    listed = token("list", "--database", database)
    assert listed.stdout.startswith("etl\talice\ta,b\tmade ")
    assert "does not expire" in listed.stdout
    rows = [json.loads(line) for line in token("list", "--database", database, "--json").stdout.splitlines()]
    assert [(row["name"], row["groups"]) for row in rows] == [("etl", ["a", "b"]), ("old", [])]
    assert secret not in listed.stdout + repr(rows)


@pytest.mark.parametrize("text", ["90", "0d", "-1d", "9x", "d", "1.5h"])
def test_a_time_that_is_none_is_named(database: str, text: str) -> None:
    CliRunner().invoke(app, ["migrate", "--database", database], catch_exceptions=False)
    with pytest.raises(SettingsError, match="--expires must be a number and w, d, h, m or s, as 90d"):
        token("create", "etl", "--user", "alice", "--expires", text, "--database", database)


def test_the_settings_show_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__TOKEN", "sesame-secret")
    for arguments in (["config", "show"], ["config", "show", "--json"]):
        shown = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert shown.exit_code == 0
        assert "sesame" not in shown.stdout
    assert "sesame" not in repr(load())


def test_a_token_in_a_file_is_refused_and_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "h.toml").write_text('token = "sesame-secret"\n')
    monkeypatch.setenv("HMSTATS__CONFIG", str(tmp_path / "h.toml"))
    with pytest.raises(SettingsError, match="token must be the variable HMSTATS__TOKEN, found in a file") as error:
        load()
    assert "sesame" not in str(error.value)

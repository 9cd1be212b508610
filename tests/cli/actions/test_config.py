"""`hmstats config show`: values as they are."""

import pytest
from typer.testing import CliRunner

from hmstats.cli.main import app


def test_a_pipe_gets_long_values_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__METASTORE", f"thrift://{'long-name.' * 30}org:9083")
    lines = CliRunner().invoke(app, ["config", "show"]).stdout.splitlines()
    assert any("org:9083" in each and each.rstrip().endswith("HMSTATS__METASTORE") for each in lines)


def test_values_are_shown_as_a_settings_file_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__DATABASE", "postgresql://ada:hush@db/m")
    monkeypatch.setenv("HMSTATS__TOKEN", "hush")
    monkeypatch.setenv("HMSTATS__WEB_NAMES", "a.org,b.org")
    lines = CliRunner().invoke(app, ["config", "show"]).stdout.splitlines()
    shown = {name: " ".join(value) for name, *value, _ in map(str.split, lines[2:])}
    names = ("host", "port", "database", "trash", "workers", "authentication", "web_names", "canary", "token")
    assert [shown[name] for name in names] == [
        '"127.0.0.1"',
        "9083",
        '"postgresql://ada:***@db/m"',
        "false",
        "unset",
        "[]",
        '["a.org", "b.org"]',
        '""',
        '"**********"',
    ]

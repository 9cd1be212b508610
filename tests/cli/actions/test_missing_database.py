"""Commands that look into a database make none where there is none."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.errors import SchemaError


@pytest.mark.parametrize(
    "command",
    [
        ["audit"],
        ["token", "list"],
        ["token", "create", "a", "--user", "b"],
        ["leave"],
        ["leave", "--write"],
        ["leave", "--upstream", "thrift://127.0.0.1:1"],
        ["adopt"],
    ],
    ids=" ".join,
)
def test_a_missing_database_is_named_and_not_made(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, [*command, "--database", "sqlite:///some.sqlite"])
    assert isinstance(found.exception, SchemaError)
    assert "some.sqlite does not exist: `hmstats serve` makes it" in str(found.exception)
    assert list(tmp_path.iterdir()) == []

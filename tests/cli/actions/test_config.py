"""`hmstats config show`: values as they are."""

import pytest
from typer.testing import CliRunner

from hmstats.cli.main import app


def test_a_pipe_gets_long_values_in_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__METASTORE", f"thrift://{'long-name.' * 30}org:9083")
    lines = CliRunner().invoke(app, ["config", "show"]).stdout.splitlines()
    assert any("org:9083" in each and each.rstrip().endswith("HMSTATS__METASTORE") for each in lines)

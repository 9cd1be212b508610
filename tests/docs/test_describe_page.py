"""docs/statistics/describe.md shows what happens: its commands are run."""

import shlex
from pathlib import Path

import pytest
from tests.client.tables.test_describe import masked
from tests.docs.pages import commands, web_visits
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.client.tables.describe import describe

PAGE = Path(__file__).parents[2] / "docs" / "statistics" / "describe.md"


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
def test_the_page_says_what_happens(our_metastore: Metastore, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = commands(PAGE)
    assert len(shown) == 10
    with web_visits(our_metastore) as address, connect(address) as metastore:
        monkeypatch.setenv("HMSTATS__METASTORE", address)
        for command, output in shown:
            arguments = shlex.split(command)[1:]
            result = CliRunner().invoke(app, arguments)
            assert masked(result.stdout, "web") == masked(output, "web"), command
            assert describe(metastore, arguments[1]) == result.stdout
        for short in (" FORMATTED web.visits", "formatted  web.visits"):
            assert masked(CliRunner().invoke(app, ["describe", short]).stdout, "web") == masked(shown[1][1], "web")
        column = CliRunner().invoke(app, ["describe", "FORMATTED web.visits app"])
        assert column.stdout == describe(metastore, "DESCRIBE FORMATTED web.visits app"), column.exception
        plain = CliRunner().invoke(app, ["describe", "EXTENDED web.visits"]).stdout
        assert masked(plain, "web") == masked(describe(metastore, "DESCRIBE EXTENDED web.visits"), "web")
        alone = CliRunner().invoke(app, ["describe", "web.visits"]).stdout
        assert masked(alone, "web") == masked(shown[1][1], "web")

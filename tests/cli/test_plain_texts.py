"""What others have written is shown and not obeyed: names, reasons and values may hold a terminal's own characters."""

import subprocess
import sys

import pytest
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.cli.output.plain_texts import plain_cell, plain_text

RED = "two\nlines \x1b[31mred [bold]markup[/bold]"


def test_control_characters_are_replaced() -> None:
    assert plain_text("a\tb\x1b[0m\x07\nü") == "a\ufffdb\ufffd[0m\ufffd\ufffdü"
    assert plain_cell(RED).plain == "two\nlines \ufffd[31mred [bold]markup[/bold]"


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
def test_the_reason_of_a_lock_is_shown_as_it_is(our_metastore: Metastore) -> None:
    our_metastore.table("t", {"a": "int"})
    address = ("--metastore", f"thrift://127.0.0.1:{our_metastore.port}")
    name = f"{our_metastore.database}.t"
    assert CliRunner().invoke(app, ["lock", name, "--reason", RED, *address]).exit_code == 0
    shown = CliRunner().invoke(app, ["locked", name, *address]).stdout
    assert "\x1b" not in shown
    assert "[bold]markup[/bold]" in shown


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
def test_an_error_is_shown_as_it_is(our_metastore: Metastore) -> None:
    our_metastore.table("t", {"a": "int"})
    address = ("--metastore", f"thrift://127.0.0.1:{our_metastore.port}")
    name = f"{our_metastore.database}.t"
    assert CliRunner().invoke(app, ["lock", name, "--refuse", "--reason", RED, *address]).exit_code == 0
    command = [sys.executable, "-m", "hmstats", "delete", name, *address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.ERROR
    assert "two\nlines \ufffd[31mred [bold]markup[/bold]" in done.stderr
    assert "\x1b" not in done.stderr

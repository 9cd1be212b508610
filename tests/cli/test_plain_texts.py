"""What others have written is shown and not obeyed: names, reasons and values may hold a terminal's own characters."""

import subprocess

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.main import app
from hmstats.cli.output.plain_texts import plain_cell, plain_sentence, plain_text

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
def test_an_error_quotes_a_reason_in_one_line(our_metastore: Metastore) -> None:
    our_metastore.table("t", {"a": "int"})
    address = ("--metastore", f"thrift://127.0.0.1:{our_metastore.port}")
    name = f"{our_metastore.database}.t"
    assert CliRunner().invoke(app, ["lock", name, "--refuse", "--reason", RED, *address]).exit_code == 0
    command = [HMSTATS, "delete", name, *address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.ERROR
    assert "two lines red [bold]markup[/bold]" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)
def test_an_error_is_one_line_whatever_others_say(our_metastore: Metastore) -> None:
    """Colours and line breaks of a library, and characters in names, are not a terminal's business."""
    assert plain_sentence("not read:\n  \x1b[31m↳\x1b[0m no\x07 key\n") == "not read: ↳ no\ufffd key"
    address = f"thrift://127.0.0.1:{our_metastore.port}"
    command = [HMSTATS, "show", "web.`a\n\x1b]0;title\x07b`", "--metastore", address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"hmstats: table web.a \ufffd]0;title\ufffdb is not in the metastore at {address}\n"

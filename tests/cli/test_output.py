"""What commands print has every character, also where the locale has not."""

import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving

COMMENT = "日本"
LATIN = {**os.environ, "PYTHONIOENCODING": "latin-1"}
_READ_BYTES = 65_536


@pytest.fixture
def describe(tmp_path: Path) -> Iterator[list[str]]:
    """A command that prints a comment which is not ASCII."""
    with serving(tmp_path) as port:
        metastore = Metastore("hmstats", port, 4.0)
        with metastore.clients:
            database = "default"
            metastore.database = database
            metastore.table()
            table = metastore.client().get_table(database, "t")
            table.sd.cols[0].comment = COMMENT
            metastore.client().alter_table(database, "t", table)
            yield [HMSTATS, "describe", f"{database}.t", "--metastore", f"thrift://127.0.0.1:{port}"]


def test_a_program_gets_utf8(describe: list[str]) -> None:
    run = subprocess.run(describe, capture_output=True, env=LATIN, check=False)
    assert (run.returncode, run.stderr) == (0, b"")
    assert COMMENT in run.stdout.decode("utf-8")


def test_a_terminal_gets_a_mark_for_what_it_cannot_show(describe: list[str]) -> None:
    ours, theirs = pty.openpty()
    run = subprocess.run(describe, stdout=theirs, stderr=subprocess.PIPE, env=LATIN, check=False)
    os.close(theirs)
    shown = os.read(ours, _READ_BYTES)
    os.close(ours)
    assert (run.returncode, run.stderr) == (0, b"")
    assert b"??" in shown

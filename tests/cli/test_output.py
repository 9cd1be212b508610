"""What commands print has every character, also where the locale has not, and what cannot be written is an error."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving

from hmstats.version import __version__

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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("command", [["config", "show", "--json"], ["config", "show"], ["version"], ["--help"]])
def test_a_full_device_is_one_sentence(command: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run([HMSTATS, *command], stdout=full, stderr=subprocess.PIPE, check=False)
    assert (run.returncode, run.stderr) == (2, b"hmstats: the output cannot be written: No space left on device\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    run = subprocess.run([HMSTATS, "config", "show", "--json"], stdout=writes, stderr=subprocess.PIPE, check=False)
    os.close(writes)
    assert run.stderr == b""


def test_python_runs_the_package() -> None:
    run = subprocess.run([sys.executable, "-m", "hmstats", "--version"], capture_output=True, check=False)
    assert (run.returncode, run.stdout) == (0, f"hmstats {__version__}\n".encode())

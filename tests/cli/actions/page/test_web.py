"""`hmstats web`: a process of its own that says where it listens, answers, and ends at a signal."""

import os
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest
from tests.fixtures.hive import free_port
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner

from hmstats.cli.actions.page import web
from hmstats.cli.main import app


def test_it_answers_until_a_signal(tmp_path: Path) -> None:
    """The metastore may be away when the page starts."""
    command = [HMSTATS, "web", "--port", "0", "--metastore", f"thrift://127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        line = page.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:")
        with urllib.request.urlopen(f"{line.split()[-1]}/api/v1/openapi.json", timeout=60) as answer:
            assert answer.status == 200
        page.send_signal(signal.SIGTERM)
        _, said = page.communicate(timeout=60)
    assert page.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (["--metastore", "nowhere"], {}, "a metastore's address must be thrift://HOST:PORT"),
        ([], {"HMSTATS__WEB_PORT": "x"}, "web_port"),
    ],
)
def test_settings_without_a_meaning(
    arguments: list[str], environment: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [HMSTATS, "web", "--port", "0", *arguments] if arguments else [HMSTATS, "web"],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_part_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_NEEDED", ("no_such_module_anywhere",))
    done = CliRunner().invoke(app, ["web"])
    assert str(done.exception) == (
        "the page needs no_such_module_anywhere: pip install '.[web]' in the folder of hmstats"
    )

"""The generated pages say what the code says, and every command can be asked for help."""

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.generate_docs import pages

from hmstats.cli.main import COMMANDS
from hmstats.settings import Settings


def test_the_generated_pages_are_up_to_date() -> None:
    for path, text in pages().items():
        assert path.read_text() == text, f"{path.name} is old: run `make docs`"


def test_every_setting_is_on_the_page() -> None:
    page = next(text for path, text in pages().items() if path.name == "configuration.md")
    for name in Settings.model_fields:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_has_help(command: list[str]) -> None:
    done = subprocess.run([hmstats(), *command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: hmstats")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            ["serve", "--database", "oracle://x"],
            "hmstats: database must be sqlite:///FILE or postgresql",
        ),
        (["serve", "--port", "70000"], "hmstats: setting port: "),
        (["migrate", "--database", "sqlite://"], "hmstats: an SQLite database must be a file"),
        (["migrate", "--database", "postgresql://nobody@127.0.0.1:1/x"], "hmstats: database postgresql"),
        (["ping", "--metastore", "thrift://127.0.0.1:1"], "hmstats: "),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_2(command: list[str], sentence: str, tmp_path: Path) -> None:
    done = subprocess.run([hmstats(), *command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(sentence), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_command_is_a_usage_error() -> None:
    done = subprocess.run([hmstats(), "bake"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "bake" in done.stderr


def hmstats() -> str:
    """The command of this environment."""
    return str(Path(sys.executable).parent / "hmstats")

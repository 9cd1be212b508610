"""The generated pages say what the code says, and an error is a sentence."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from scripts.generate_docs import pages
from typer.main import get_command

from hmstats import errors
from hmstats.cli.main import app
from hmstats.collector.request.statement import statement
from hmstats.errors import HmstatsError
from hmstats.outlets.describe import statement as describe_statement
from hmstats.settings import Settings


def test_the_generated_pages_are_up_to_date() -> None:
    for path, text in pages().items():
        assert path.read_text() == text, f"{path.name} is old: run `make docs`"


def test_every_setting_is_on_the_page() -> None:
    page = next(text for path, text in pages().items() if path.name == "configuration.md")
    for name in Settings.model_fields:
        assert f"| `{name}` |" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["serve", "--database", "oracle://x"], "hmstats: database must be sqlite:///FILE or postgresql"),
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


def test_the_tree_of_errors_has_every_error() -> None:
    tree = re.findall(r"(?:── |^)(\w+)", errors.__doc__ or "", re.MULTILINE)
    classes = [name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, HmstatsError)]
    assert sorted(set(tree) & {*classes}) == sorted(classes)


README = Path(__file__).parents[2] / "README.md"
_BLOCKS = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def commands_shown() -> list[str]:
    """The commands of ours that README shows, without comments and pipes."""
    lines = (line for block in _BLOCKS.findall(README.read_text()) for line in block.splitlines())
    found = (re.sub(r"\s+(#|\|).*", "", line) for line in lines if line.startswith("hmstats "))
    return list(found)


def test_readme_shows_commands() -> None:
    assert len(commands_shown()) > 10


@pytest.mark.parametrize("line", commands_shown())
def test_the_commands_of_readme_can_be_parsed(line: str) -> None:
    """No name of a command, option or argument is wrong; that statements can be read is checked too."""
    command, path, words = get_command(app), "hmstats", shlex.split(line)[1:]
    while hasattr(command, "get_command"):
        context = typer.Context(command, info_name=path)
        command, path, words = command.get_command(context, words[0]), words[0], words[1:]
        assert command is not None, line
    parsed = command.make_context(path, words)
    assert parsed.command is command
    if path == "describe":
        describe_statement.parse(describe_statement.complete_statement(parsed.params["statement"]))
    if path == "analyze":
        assert all(statement(text.replace("*", "x")) for text in parsed.params["tables"])


def test_the_tests_that_a_page_names_are_there() -> None:
    named = re.findall(
        r"`(test_\w+)` in `(tests/[\w/]+\.py)`", (README.parent / "docs" / "inside" / "testing.md").read_text()
    )
    assert len(named) > 40
    missing = [each for each in named if f"def {each[0]}(" not in (README.parent / each[1]).read_text()]
    assert missing == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Strict: a link, an anchor or a name of the reference that leads nowhere is an error."""
    mkdocs = str(Path(sys.executable).parent / "mkdocs")
    done = subprocess.run(
        [mkdocs, "build", "--quiet", "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=README.parent,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")

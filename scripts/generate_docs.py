"""Writes the pages that are made from the code: docs/configuration.md and docs/cli.md. A test compares them."""

from pathlib import Path

import typer
from typer.main import get_command

from hmstats.cli.main import app
from hmstats.settings import PREFIX, Settings

DOCS = Path(__file__).resolve().parents[1] / "docs"

_CONFIGURATION = """# Configuration

<!-- Made by `make docs` from src/hmstats/settings.py. -->

Nothing must be set: without any setting `hmstats serve` keeps its data in an SQLite file in the working directory.

A value is looked for in this order:

1. the command's flag, such as `--port 9083`;
2. the environment variable, such as `HMSTATS__PORT=9083`;
3. the TOML file named by `HMSTATS__CONFIG`, or else `hmstats.toml` in the working directory, with lines such as `port = 9083`;
4. the default.

`hmstats config show` prints every value and where it came from.

| setting | variable | default | meaning |
|---|---|---|---|
"""

_CLI = """# Command line

<!-- Made by `make docs` from src/hmstats/cli/. -->

An error is one sentence on standard error and exit code 2. Log lines go to standard error, answers to standard output.
"""


def configuration() -> str:
    """The page on settings."""
    rows = (
        f"| `{name}` | `{PREFIX}{name.upper()}` | `{field.default}` | {field.description} |"
        for name, field in Settings.model_fields.items()
    )
    return _CONFIGURATION + "\n".join(rows) + "\n"


def command_line() -> str:
    """The page on commands: the help text of each."""
    sections = [_CLI, *_sections(get_command(app), "hmstats")]
    return "\n".join(sections)


def _sections(command: typer.core.TyperGroup | typer.core.TyperCommand, path: str) -> list[str]:
    context = typer.Context(command, info_name=path, terminal_width=100, max_content_width=100)
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    own = f"## `{path}`\n\n```text\n{help_text}\n```\n"
    inner = getattr(command, "commands", {})
    return [own, *(section for name, each in inner.items() for section in _sections(each, f"{path} {name}"))]


def pages() -> dict[Path, str]:
    """Each generated page and its text."""
    return {DOCS / "configuration.md": configuration(), DOCS / "cli.md": command_line()}


def main() -> None:
    """Write every page."""
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()

"""`hmstats`: every command is named here, and its module is imported when it is wanted.

An error is one sentence on standard error and exit code 2; a traceback is a bug.
"""

import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command as built
from typer.main import get_group

from hmstats.errors import HmstatsError

USAGE_ERROR = 2
COMMANDS = (
    "serve",
    "migrate",
    "adopt",
    "analyze",
    "push",
    "show",
    "describe",
    "compare",
    "check",
    "ask",
    "export",
    "import",
    "ping",
    "config",
    "version",
)
"""Each is a function, or a group named `app`, in the module of its name; in the order of the help text."""


class Commands(TyperGroup):
    """The commands, imported one by one: `ping` does not wait for Spark, nor for a database."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class has it
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        module = import_module(f"hmstats.cli.{name}")
        if hasattr(module, "app"):
            return get_group(module.app)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(getattr(module, name))
        return built(alone)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Table, partition and column statistics behind the Hive Metastore's Thrift API.",
)


@app.callback()
def _group() -> None:
    """Say the commands' own help."""


def main() -> None:
    """Run the command line; the exit code is 2 after an error."""
    try:
        app()
    except HmstatsError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"hmstats: {error}", markup=False)
        sys.exit(USAGE_ERROR)

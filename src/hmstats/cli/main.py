"""`hmstats`: lists all commands; the module of a command in cli/commands is imported when it runs.

An error is one sentence on standard error; a traceback is a bug.
"""

import builtins
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command as built
from typer.main import get_group

from hmstats import tracing
from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.standard_output import all_written, allow_all_characters
from hmstats.errors import AnalysisIncomplete, HmstatsError
from hmstats.version import __version__

_SERVING = frozenset({"serve", "web", "mcp"})
"""Commands whose requests are traces of their own."""
HELP = ("-h", "--help")
COMMANDS = {
    "serve": "Serve the Hive Metastore's Thrift API.",
    "web": "Show tables and statistics in a browser.",
    "mcp": "Serve statistics to assistants.",
    "migrate": "Create or upgrade the tables of a database.",
    "adopt": "Check a Hive Metastore's database, and add our tables.",
    "move": "Move a database from an upstream to hmstats, or back.",
    "leave": "Remove hmstats from the database of a Hive Metastore.",
    "doctor": "Find what is wrong with an installation.",
    "check-access": "Print whether access rules allow a user an action.",
    "analyze": "Compute statistics of tables with Spark.",
    "refresh": "Analyse stale tables, the largest gain first.",
    "runs": "List runs that refreshed statistics.",
    "learn": "Read how wrong estimates of queries were.",
    "blame": "List statistics that made estimates wrong.",
    "push": "Send the statistics in a spool folder.",
    "list": "List tables, and which have statistics.",
    "show": "Print the statistics of a table.",
    "health": "List tables by the health of their statistics.",
    "history": "List writes of a table's statistics.",
    "diff": "Print what changed between two times.",
    "restore": "Put statistics of a time back.",
    "describe": "Print what Hive answers to DESCRIBE.",
    "compare": "Put two tables' statistics side by side.",
    "check": "Find stored statistics that are wrong.",
    "ask": "Ask for counts, quantiles and frequent values.",
    "delete": "Delete column statistics.",
    "lock": "Protect statistics from writes.",
    "unlock": "Let statistics be written again.",
    "locked": "List the locks on statistics.",
    "prefs": "Set and show preferences for statistics.",
    "pending": "List, compare and publish pending statistics.",
    "export": "Write all statistics to a file.",
    "import": "Read statistics from a file or a metastore.",
    "feed": "Send statistics to a data catalog.",
    "ping": "Ask a metastore whether it is alive.",
    "token": "Create, list and revoke tokens of clients.",
    "password": "Print a line for a password file.",
    "audit": "Print recorded calls: who changed a table.",
    "config": "Print the settings in force.",
    "version": "Print the version of hmstats.",
}
"""Command to its line in the list of commands, in that order.

Each is a function of its name, or a group named `app`, in the module of its name or of _MODULES. A name that Python
has already gets an underscore.
"""
_MODULES = {
    "serve": "servers.serve",
    "web": "servers.web",
    "mcp": "servers.mcp",
    "adopt": "beside_hive",
    "leave": "beside_hive",
    "check-access": "access.check_access",
    "lock": "locks.lock",
    "unlock": "locks.unlock",
    "locked": "locks.locked",
    "prefs": "keeping.prefs",
    "pending": "keeping.pending",
    "token": "access.token",
    "password": "access.password",
    "audit": "access.audit",
    "health": "health.health",
    "refresh": "health.refresh",
    "runs": "health.runs",
    "learn": "feedback.learn",
    "blame": "feedback.blame",
    "push": "sending.push",
    "feed": "sending.feed",
    "history": "history.history",
    "diff": "history.diff",
    "restore": "history.restore",
}


class Commands(TyperGroup):
    """The commands, imported when they run, so that help and completion are fast."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the base class has it
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) or hasattr(builtins, cmd_name) else cmd_name.replace("-", "_")
        module = import_module(f"hmstats.cli.commands.{_MODULES.get(cmd_name, name)}")
        if hasattr(module, "app"):
            group = get_group(module.app)
            group.short_help = COMMANDS[cmd_name]
            return group
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name, short_help=COMMANDS[cmd_name])(getattr(module, name))
        return built(alone)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": list(HELP)},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Table, partition and column statistics behind the Hive Metastore's Thrift API.",
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the flag
    if wanted:
        typer.echo(f"hmstats {__version__}")
        raise typer.Exit


@app.callback()
def _group(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take the options of hmstats itself."""


def main() -> None:
    """Run the command line; after an error its sentence is printed (exit_codes.py has the codes)."""
    allow_all_characters()
    try:
        with all_written(), _traced():
            app()
    except HmstatsError as error:
        from hmstats.cli.output.plain_texts import plain_sentence  # noqa: PLC0415 - Rich, which --help goes without

        typer.echo(f"hmstats: {plain_sentence(str(error))}", err=True)
        sys.exit(_exit_code(error))


def _traced() -> AbstractContextManager[Any]:
    """A span around a command that ends by itself, if the environment wants traces."""
    name = next((each for each in sys.argv[1:] if each in COMMANDS), None)
    if name is None or name in _SERVING:
        return nullcontext()
    tracing.start("hmstats")
    return tracing.outer_span(f"hmstats {name}")


def _exit_code(error: HmstatsError) -> ExitCode:
    """PARTLY_DONE only for an analysis with a report: without one, nothing is known to be stored."""
    partly = isinstance(error, AnalysisIncomplete) and error.report is not None
    return ExitCode.PARTLY_DONE if partly else ExitCode.ERROR

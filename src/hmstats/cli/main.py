"""`hmstats`: every command is registered here.

An error is one sentence on standard error and exit code 2; a traceback is a bug.
"""

import sys

import typer
from rich.console import Console

from hmstats import __version__
from hmstats.cli import analyze, config, migrate, ping, serve, show
from hmstats.errors import HmstatsError

USAGE_ERROR = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Table, partition and column statistics behind the Hive Metastore's Thrift API.",
)
app.command()(serve.serve)
app.command()(migrate.migrate)
app.command()(analyze.analyze)
app.command()(show.show)
app.command()(ping.ping)
app.add_typer(config.app, name="config")


@app.command()
def version() -> None:
    """Print the version of hmstats."""
    typer.echo(f"hmstats {__version__}")


def main() -> None:
    """Run the command line; the exit code is 2 after an error."""
    try:
        app()
    except HmstatsError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"hmstats: {error}", markup=False)
        sys.exit(USAGE_ERROR)

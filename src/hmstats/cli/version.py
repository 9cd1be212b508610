"""`hmstats version`."""

import typer

from hmstats import __version__


def version() -> None:
    """Print the version of hmstats."""
    typer.echo(f"hmstats {__version__}")

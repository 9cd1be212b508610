"""`hmstats version`."""

import json

import typer

from hmstats.cli.options import AsJson
from hmstats.version import __version__


def version(*, as_json: AsJson = False) -> None:
    """Print the version of hmstats."""
    typer.echo(json.dumps({"version": __version__}) if as_json else f"hmstats {__version__}")

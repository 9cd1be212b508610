"""`hmstats config`: what is set, and where each value came from."""

import typer

from hmstats.cli.options import AsJson

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The settings in force.")


@app.callback()
def _group() -> None:
    """The settings in force."""


@app.command()
def show(*, as_json: AsJson = False) -> None:
    """Print every setting with its value and where the value came from."""
    from hmstats.cli.actions.config import show_settings

    show_settings(as_json=as_json)

"""`hmstats config`: what is set, and where each value came from."""

import typer
from rich.console import Console
from rich.table import Table

from hmstats.settings import Settings, load, origin

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The settings in force.")


@app.callback()
def _group() -> None:
    """The settings in force."""


@app.command()
def show() -> None:
    """Print every setting with its value and where the value came from."""
    settings = load()
    table = Table("Setting", "Value", "From", box=None, pad_edge=False)
    for name in Settings.model_fields:
        table.add_row(name, _shown(name, getattr(settings, name)), origin(name))
    Console(soft_wrap=True, highlight=False).print(table)


def _shown(name: str, value: object) -> str:
    text = str(value)
    if name != "database" or "@" not in text:
        return text
    scheme, _, rest = text.partition("://")
    user, _, address = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}:***@{address}"

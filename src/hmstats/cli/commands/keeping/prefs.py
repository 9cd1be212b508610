"""`hmstats prefs`: how statistics are made and kept."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson, PartitionNames, Server

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Set and show preferences for statistics.")
_WHAT = "A database or a table; * for everything."
Subject = Annotated[str, typer.Argument(help=_WHAT, metavar="DB[.TABLE]")]
Column = Annotated[str | None, typer.Option(help="A column of the table.", metavar="NAME")]


@app.command("set")
def set_(
    of: Subject,
    values: Annotated[list[str], typer.Argument(help="A preference and its value.", metavar="NAME=VALUE")],
    *,
    partition: PartitionNames = None,
    column: Column = None,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Set preferences of everything, a database, a table, a partition or a column. The innermost object's count."""
    from hmstats.cli.actions.keeping.prefs import set_preferences

    set_preferences(of, values, partitions=partition or (), column=column, metastore=metastore, as_json=as_json)


@app.command()
def unset(
    of: Subject,
    names: Annotated[list[str], typer.Argument(help="The preferences.", metavar="NAME")],
    *,
    partition: PartitionNames = None,
    column: Column = None,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Remove preferences of exactly this object, so that those of the objects around it count."""
    from hmstats.cli.actions.keeping.prefs import unset_preferences

    unset_preferences(of, names, partitions=partition or (), column=column, metastore=metastore, as_json=as_json)


@app.command()
def show(
    of: Annotated[str, typer.Argument(help=_WHAT, metavar="DB[.TABLE]")] = "*",
    *,
    partition: PartitionNames = None,
    column: Column = None,
    every: Annotated[bool, typer.Option("--all", help="List what is set, not what is in force.")] = False,
    metastore: Server = None,
    as_json: AsJson = False,
) -> None:
    """Print the preferences in force for an object, and where each is set."""
    from hmstats.cli.actions.keeping.prefs import list_preferences, show_preferences

    if every and (partition or column is not None):
        raise typer.BadParameter("--all lists everything that is set, so it takes no --partition and no --column")
    if every:
        list_preferences(of, metastore=metastore, as_json=as_json)
    else:
        show_preferences(of, partitions=partition or (), column=column, metastore=metastore, as_json=as_json)

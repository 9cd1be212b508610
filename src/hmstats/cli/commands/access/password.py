"""`hmstats password`: a line of a password file."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson


def password(
    user: Annotated[str, typer.Argument(help="The user's name.", metavar="USER")],
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of the user; may be repeated.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Ask for a password, or read it from standard input, and print its line for the file of `password_file`."""
    from hmstats.cli.actions.access.password import print_line

    print_line(user, group or [], as_json=as_json)

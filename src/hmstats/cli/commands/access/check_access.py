"""`hmstats check-access`: what the access rules let a user do, before a server or the user finds out."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson


def check_access(
    user: Annotated[str, typer.Argument(help="The user; anonymous for clients without authentication.")],
    action: Annotated[str, typer.Argument(help="What it wants to do, such as read_statistics.")],
    name: Annotated[
        str | None,
        typer.Argument(
            help="To which object; to the server itself without it.", metavar="[CATALOG[.DATABASE[.TABLE]]]"
        ),
    ] = None,
    *,
    group: Annotated[list[str] | None, typer.Option(help="A group of the user; may be repeated.")] = None,
    rules: Annotated[str | None, typer.Option(help="The file of access rules.", metavar="FILE")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell whether the access rules let a user do something, and which rule decides.

    The exit code is 0 when it is allowed, 1 when it is denied.
    """
    from hmstats.cli.actions.access.check_access import tell_access

    tell_access(user=user, groups=group or [], action=action, name=name, rules=rules, as_json=as_json)

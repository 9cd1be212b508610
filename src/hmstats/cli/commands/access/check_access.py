"""`hmstats check-access`: what the access rules let a user do, before a server or the user finds out."""

from typing import Annotated

import typer

from hmstats.cli.options import AsJson


def check_access(
    user: Annotated[str, typer.Argument(help="The user; anonymous for clients without authentication.")],
    action: Annotated[str, typer.Argument(help="The action, such as read_statistics.")],
    name: Annotated[
        str | None,
        typer.Argument(help="The object; the server itself if omitted.", metavar="[CATALOG[.DATABASE[.TABLE]]]"),
    ] = None,
    *,
    group: Annotated[list[str] | None, typer.Option(help="A group of the user; may be repeated.")] = None,
    rules: Annotated[str | None, typer.Option(help="The file of access rules.", metavar="FILE")] = None,
    as_json: AsJson = False,
) -> None:
    """Print whether the access rules allow a user an action, and which rule decides.

    The exit code is 0 when it is allowed, 1 when it is denied.
    """
    from hmstats.cli.actions.access.check_access import print_access

    print_access(user=user, groups=group or [], action=action, name=name, rules=rules, as_json=as_json)

"""`hmstats token`: tokens by which clients prove who they are."""

from typing import Annotated

import typer

from hmstats.cli.options import USER, AsJson, Database

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Tokens by which clients prove who they are.")
Name = Annotated[str, typer.Argument(help="The token's name.", metavar="NAME")]


@app.command()
def create(
    name: Name,
    user: Annotated[str, typer.Option(help=USER)],
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of the user; may be repeated.")] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it expires, from now on: 90d, 12h, 30m; never by default.", metavar="TIME")
    ] = None,
    database: Database = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Create a token and print its secret, which cannot be shown again."""
    from hmstats.cli.actions.access.token import create_token

    create_token(name, user, group or [], expires, database, as_json=as_json)


@app.command("list")
def list_(database: Database = None, *, as_json: AsJson = False) -> None:
    """Print the tokens without their secrets."""
    from hmstats.cli.actions.access.token import list_tokens

    list_tokens(database, as_json=as_json)


@app.command()
def revoke(name: Name, database: Database = None, *, as_json: AsJson = False) -> None:
    """Delete a token; servers refuse it after 10 seconds at most."""
    from hmstats.cli.actions.access.token import revoke_token

    revoke_token(name, database, as_json=as_json)

"""`hmstats token`: tokens in the database of a server, which may run meanwhile."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import typer

from hmstats.cli.actions.access.durations import seconds_of
from hmstats.cli.serving.serve_settings import load_served
from hmstats.service.access.api_tokens import ApiTokens
from hmstats.store.opening import open_store


def create_token(
    name: str, user: str, groups: Sequence[str], expires: str | None, database: str | None, *, as_json: bool
) -> None:
    """Make a token and print its secret alone, so that a shell can take it."""
    with _tokens(database) as tokens:
        secret = tokens.create(name, user, tuple(groups), None if expires is None else seconds_of("--expires", expires))
    typer.echo(json.dumps({"name": name, "user": user, "token": secret}) if as_json else secret)


def list_tokens(database: str | None, *, as_json: bool) -> None:
    """Print the name, user, groups and times of each token."""
    with _tokens(database) as tokens:
        found = tokens.listed()
    if not found and not as_json:
        typer.echo("there are no tokens")
    now_ms = time.time() * 1000
    for each in found:
        expires = _time(each.expires_ms)
        over = each.expires_ms is not None and each.expires_ms <= now_ms
        if as_json:
            row = {"name": each.name, "user": each.user, "groups": each.groups, "created": _time(each.created_ms)}
            typer.echo(json.dumps(row | {"expires": expires, "expired": over}))
        else:
            end = f"{'expired' if over else 'expires'} {expires}" if expires else "does not expire"
            typer.echo("\t".join((each.name, each.user, ",".join(each.groups), f"made {_time(each.created_ms)}", end)))


def revoke_token(name: str, database: str | None, *, as_json: bool) -> None:
    """Delete a token."""
    with _tokens(database) as tokens:
        tokens.revoke(name)
    typer.echo(json.dumps({"revoked": name}) if as_json else f"revoked {name}")


@contextmanager
def _tokens(database: str | None) -> Iterator[ApiTokens]:
    settings = load_served({"database": database})
    store = open_store(settings.database, pool_size=1, statement_seconds=settings.statement_seconds)
    store.write_without_claim()
    try:
        yield ApiTokens(store)
    finally:
        store.close()


def _time(ms: int | None) -> str | None:
    return None if ms is None else datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")

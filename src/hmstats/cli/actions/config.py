"""The output of `hmstats config`: the settings, and the source of each value."""

import json

import typer

from hmstats.cli.output.tables import plain_table, print_table
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load, origin
from hmstats.settings.upstreams import UpstreamSetting
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import database_url


def show_settings(*, as_json: bool) -> None:
    """Print every setting with its value and where the value came from."""
    settings = load()
    rows = [(name, _shown(name, getattr(settings, name)), origin(name)) for name in Settings.model_fields]
    if as_json:
        typer.echo(json.dumps({name: {"value": value, "from": source} for name, value, source in rows}, indent=2))
        return
    table = plain_table(["Setting", "Value", "From"])
    for row in rows:
        table.add_row(*row)
    print_table(table)


def _shown(name: str, value: object) -> str:
    if name == "upstreams":
        return "; ".join(_shown_upstream(each) for each in value) if isinstance(value, tuple) else ""
    return _shown_database(value) if name == "database" else str(value)


def _shown_upstream(upstream: UpstreamSetting) -> str:
    of = ", ".join(upstream.databases) or "all other databases"
    return f"{upstream.name} at {upstream.uris} with {of}, statistics in {_shown_database(upstream.database)}"


def _shown_database(value: object) -> str:
    try:
        return shown_url(database_url(str(value)))
    except SettingsError:
        return "*** (no URL of a database)"

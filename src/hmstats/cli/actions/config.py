"""The output of `hmstats config`: the settings, and the source of each value."""

import json

import typer
from pydantic import SecretStr

from hmstats.cli.output.tables import plain_table, print_table
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load, origin
from hmstats.settings.upstreams import UpstreamSetting
from hmstats.store.connections.shown_url import shown_url
from hmstats.store.database.store import database_url

_UNSET = "unset"


def show_settings(*, as_json: bool) -> None:
    """Print every setting with its value, as a TOML file or JSON has it, and where the value came from."""
    settings = load()
    rows = [(name, _shown(name, getattr(settings, name)), origin(name)) for name in Settings.model_fields]
    if as_json:
        typer.echo(json.dumps({name: {"value": value, "from": source} for name, value, source in rows}, indent=2))
        return
    table = plain_table(["Setting", "Value", "From"])
    for name, value, source in rows:
        table.add_row(name, _UNSET if value is None else json.dumps(value, ensure_ascii=False), source)
    print_table(table)


def _shown(name: str, value: object) -> object:
    """The value without its secrets."""
    if name == "database":
        return _shown_database(value)
    if name == "upstreams" and isinstance(value, tuple):
        return [_shown_upstream(each) for each in value]
    return str(value) if isinstance(value, SecretStr) else value


def _shown_upstream(upstream: UpstreamSetting) -> dict[str, object]:
    return upstream.model_dump() | {"database": _shown_database(upstream.database)}


def _shown_database(value: object) -> str:
    try:
        return shown_url(database_url(str(value)))
    except SettingsError:
        return "*** (no URL of a database)"

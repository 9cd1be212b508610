"""The work of `hmstats web`: read the settings, then serve the page."""

import typer

from hmstats.cli.serving.page import site_of, warnings_of
from hmstats.settings import load


def serve_pages(*, host: str | None, port: int | None, metastore: str | None, writes: bool | None) -> None:
    """Serve until a signal. Raises SettingsError for settings that have no meaning, or a part that is not installed."""
    settings = load({"web_host": host, "web_port": port, "metastore": metastore, "web_writes": writes})
    site = site_of(settings)
    from hmstats.web.process import run  # noqa: PLC0415 - an optional part

    for line in warnings_of(site):
        typer.echo(f"hmstats: {line}", err=True)
    run(site, lambda address: typer.echo(f"listening on {address}"))

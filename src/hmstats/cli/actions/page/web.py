"""The work of `hmstats web`: read the settings, then serve the page."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING

import typer

from hmstats.client.connection.credentials import TOKEN
from hmstats.errors import SettingsError
from hmstats.extras import install_advice
from hmstats.settings import load

if TYPE_CHECKING:
    from hmstats.web.process import Site

_NEEDED = ("starlette", "jinja2", "uvicorn")


def serve_pages(*, host: str | None, port: int | None, metastore: str | None, writes: bool | None) -> None:
    """Serve until a signal. Raises SettingsError for settings that have no meaning, or a part that is not installed."""
    settings = load({"web_host": host, "web_port": port, "metastore": metastore, "web_writes": writes})
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SettingsError(f"the page needs {', '.join(missing)}: {install_advice('web')}")
    from hmstats.web.process import Site, run  # noqa: PLC0415 - an optional part

    site = Site(
        host=settings.web_host,
        port=settings.web_port,
        names=settings.web_names,
        metastore=settings.metastore,
        answer_seconds=settings.client_seconds,
        certificate=settings.web_tls_certificate,
        key=settings.web_tls_key,
        writes=settings.web_writes,
        unencrypted=settings.unencrypted_secrets,
    )
    for line in _warnings(site):
        typer.echo(f"hmstats: {line}", err=True)
    run(site, lambda address: typer.echo(f"listening on {address}"))


def _warnings(site: "Site") -> Iterator[str]:
    if os.environ.get(TOKEN):
        yield f"{TOKEN} is not used: the page asks as who opens it"
    if not _is_loopback(site.host) and site.certificate is None:
        yield f"other machines can reach {site.host}, and what they send and see is not encrypted"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

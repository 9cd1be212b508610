"""The work of `hmstats web`: read the settings, then serve the page."""

from importlib.util import find_spec
from ipaddress import ip_address

import typer

from hmstats.errors import SettingsError
from hmstats.extras import install_advice
from hmstats.settings import load

_NEEDED = ("starlette", "jinja2", "uvicorn")


def serve_pages(*, host: str | None, port: int | None, metastore: str | None) -> None:
    """Serve until a signal. Raises SettingsError for settings that have no meaning, or a part that is not installed."""
    settings = load({"web_host": host, "web_port": port, "metastore": metastore})
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SettingsError(f"the page needs {', '.join(missing)}: {install_advice('web')}")
    from hmstats.web.process import run  # noqa: PLC0415 - an optional part

    if not _is_loopback(settings.web_host):
        typer.echo(
            f"hmstats: other machines can reach {settings.web_host}: they see what the user of this process may see",
            err=True,
        )
    run(
        host=settings.web_host,
        port=settings.web_port,
        names=settings.web_names,
        metastore=settings.metastore,
        answer_seconds=settings.client_seconds,
        listening=lambda address: typer.echo(f"listening on {address}"),
    )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"

"""`python -m hmstats.cli.serving.page PORT HEALTH CHANNEL`: the page beside a server's health and metrics.

PORT is that of the server, HEALTH the address of health and metrics, CHANNEL the file descriptor by which connections
come. The settings of the page are those of `hmstats web`.
"""

import os
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hmstats.cli.exit_codes import ExitCode
from hmstats.client.connection.credentials import TOKEN
from hmstats.errors import HmstatsError, SettingsError
from hmstats.extras import install_advice
from hmstats.private_files import require_private
from hmstats.server.sockets.port import address_from_here, is_loopback
from hmstats.settings import Settings, load

if TYPE_CHECKING:
    from hmstats.web.process import Site

_NEEDED = ("starlette", "jinja2", "uvicorn")


def site_of(settings: Settings) -> "Site":
    """The page as `hmstats web` serves it.

    Raises SettingsError if a part of it is not installed, or if everybody can read its key.
    """
    _check_key(settings.web_tls_certificate, settings.web_tls_key)
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise SettingsError(f"the page needs {', '.join(missing)}: {install_advice('web')}")
    from hmstats.web.process import Site  # noqa: PLC0415 - an optional part

    return Site(
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


def _check_key(certificate: str | None, key: str | None) -> None:
    if key is not None and certificate is None:
        raise SettingsError(
            "web_tls_key needs the setting web_tls_certificate, without which the page is reached by plain HTTP"
        )
    if key is not None:
        require_private("web_tls_key", key)
    elif certificate is not None:  # the key is in its file
        require_private("web_tls_certificate", certificate)


def warnings_of(site: "Site") -> Iterator[str]:
    """Warnings about effects of the settings that an operator may not expect."""
    if os.environ.get(TOKEN):
        yield f"{TOKEN} is not used: the page asks as who opens it"
    if not is_loopback(site.host) and site.certificate is None:
        yield f"other machines can reach {site.host}, and what they send and see is not encrypted"


def check_mounted(settings: Settings) -> None:
    """Raises SettingsError if the page cannot be mounted; warns on standard error."""
    if not settings.http_page:
        return
    if settings.http_port is None:
        raise SettingsError("http_page needs the setting http_port, the port on which the page is mounted")
    site = site_of(_mounted(settings, settings.port))
    from hmstats.web.process import configure  # noqa: PLC0415 - an optional part

    configure(site)
    for line in warnings_of(site):
        print(f"hmstats: {line}", file=sys.stderr)


def main(port: int, health: str, channel: int) -> int:
    """Serve until the channel is closed; returns the exit code."""
    try:
        site = site_of(_mounted(load(), port))
        from hmstats.web.process import run_mounted  # noqa: PLC0415 - an optional part

        run_mounted(site, socket.socket(fileno=channel), health)
    except HmstatsError as error:
        print(f"hmstats: the page: {error}", file=sys.stderr)
        return ExitCode.ERROR
    return 0


def _mounted(settings: Settings, port: int) -> Settings:
    """The settings of the page beside a server: it listens where that does, and asks that over HTTP.

    Raises SettingsError if the server takes connections over TLS only and its name is unknown.
    """
    metastore = f"http://{address_from_here((settings.host, port))}"
    if settings.tls == "require":
        metastore = settings.metastore
        if not metastore.startswith("https://"):
            raise SettingsError(
                "with tls = require the page needs the setting metastore, as https://NAME:PORT with the name of the "
                f"server's certificate, found {metastore}"
            )
    return settings.model_copy(update={"web_host": settings.host, "metastore": metastore})


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))

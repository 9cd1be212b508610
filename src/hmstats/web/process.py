"""The process of `hmstats web`: one event loop, whose requests ask the metastore in threads."""

import socket
from collections.abc import Callable, Iterable
from functools import partial

import uvicorn

from hmstats.client import connect
from hmstats.errors import SettingsError
from hmstats.web.application import application
from hmstats.web.metastores import Metastores


def run(
    *,
    host: str,
    port: int,
    names: Iterable[str],
    metastore: str,
    answer_seconds: float,
    listening: Callable[[str], None],
) -> None:
    """Serve the page until SIGTERM or SIGINT; `listening` gets its address once it can be opened.

    Raises SettingsError when the address cannot be listened on, or the metastore's is none.
    """
    opened = partial(connect, metastore, timeout_seconds=answer_seconds, retries=1)
    opened().close()  # says at once that an address is none; nothing is sent
    app = application(Metastores(opened), [host, *names])
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, ws="none")
    with _listening(host, port) as found:
        own = found.getsockname()[1]
        listening(f"http://{f'[{host}]' if ':' in host else host}:{own}")
        uvicorn.Server(config).run(sockets=[found])


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise SettingsError(f"the page cannot listen on {host}:{port}: {error.strerror or error}") from error

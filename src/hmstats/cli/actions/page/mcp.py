"""The work of `hmstats mcp`: read the settings, then answer on standard input and output."""

from importlib.util import find_spec

from hmstats.client import connect
from hmstats.errors import SettingsError
from hmstats.extras import install_advice
from hmstats.settings import load
from hmstats.web.metastores import Metastores


def serve_assistant(metastore: str | None) -> None:
    """Serve until standard input ends. Raises SettingsError when the part is not installed."""
    settings = load({"metastore": metastore})
    if find_spec("mcp") is None:
        raise SettingsError(f"hmstats mcp needs mcp: {install_advice('mcp')}")
    from hmstats.web.assistants import assistant_server  # noqa: PLC0415 - an optional part

    connect(settings.metastore).close()  # says at once that an address is none; nothing is sent
    connections = Metastores(lambda _: connect(settings.metastore, timeout_seconds=settings.client_seconds, retries=1))
    try:
        assistant_server(connections).run("stdio")
    finally:
        connections.close()

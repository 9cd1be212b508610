"""The connection of a command to its metastore."""

from hmstats.client import Metastore, connect
from hmstats.client.metastore import RETRIES
from hmstats.settings import load


def open_metastore(metastore: str | None, *, retries: int = RETRIES) -> Metastore:
    """Connect to the metastore of `--metastore`, or if that is None, of the settings. A context manager.

    Raises SettingsError for invalid settings. Nothing is sent before the first call.
    """
    settings = load({"metastore": metastore})
    return connect(settings.metastore, timeout_seconds=settings.client_seconds, retries=retries)

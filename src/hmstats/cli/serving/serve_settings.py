"""The settings of a server: our own, then those of a Hive's file for settings that are unset."""

from collections.abc import Mapping
from typing import Any

from hmstats.cli.serving.hive_site import logs_in_transactions, settings_of
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load
from hmstats.store.connections.jdbc import with_schema
from hmstats.store.database.store import database_url


def is_alone(settings: Settings, workers: int) -> bool:
    """Whether a server with so many workers has exclusive use of its database. Raises SettingsError if it cannot.

    Several processes would not notice each other's changes.
    """
    if settings.upstreams:
        if settings.exclusive:
            raise SettingsError("a server with several upstreams cannot have exclusive use of the database: unset it")
        return False
    if settings.exclusive is None:
        embedded = database_url(settings.database).get_backend_name() == "sqlite"
        return embedded and workers == 1 and not settings.read_only
    if settings.exclusive and settings.read_only:
        raise SettingsError(
            "a server that only reads cannot have exclusive use of the database: set exclusive or read_only"
        )
    if settings.exclusive and workers != 1:
        raise SettingsError(
            f"a server with exclusive use of the database must have one worker, found workers = {workers}"
        )
    return settings.exclusive


def hive_logs(settings: Settings) -> bool:
    """Whether all writers of the database, Hive and hmstats, log events in the transactions of their changes."""
    return settings.hive_site is not None and settings.notifications and logs_in_transactions(settings.hive_site)


def load_served(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings, with `hive_site` and `own_schema` applied to the database's URL. Raises SettingsError."""
    settings = load(flags)
    if settings.hive_site is not None:
        of_hive = settings_of(settings.hive_site)
        unsaid = {name: value for name, value in of_hive.items() if name not in settings.model_fields_set}
        settings = settings.model_copy(update=unsaid)
    if settings.own_schema is None:
        return settings
    return settings.model_copy(update={"database": with_schema(settings.database, settings.own_schema)})

"""The settings of what is served: those in force, and what a Hive's own settings say where ours say nothing."""

from collections.abc import Mapping
from typing import Any

from hmstats.cli.hive_site import logs_in_transactions, settings_of
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load
from hmstats.store.engine import database_url
from hmstats.store.jdbc import with_schema


def is_alone(settings: Settings, workers: int) -> bool:
    """Whether a server with so many workers has its database alone. Raises SettingsError where it cannot.

    Several processes would not know of each other's changes.
    """
    if settings.exclusive is None:
        embedded = database_url(settings.database).get_backend_name() == "sqlite"
        return embedded and workers == 1 and not settings.read_only
    if settings.exclusive and settings.read_only:
        raise SettingsError("a server that only reads has no database alone: set exclusive or read_only")
    if settings.exclusive and workers != 1:
        raise SettingsError(f"a server that has its database alone has one worker, found workers = {workers}")
    return settings.exclusive


def hive_logs(settings: Settings) -> bool:
    """Whether all who write to the database log it in the same transactions: Hive by its file, and we too."""
    return settings.hive_site is not None and settings.notifications and logs_in_transactions(settings.hive_site)


def load_served(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings, `hive_site` and `own_schema` being put into the database's URL. Raises SettingsError."""
    settings = load(flags)
    if settings.hive_site is not None:
        of_hive = settings_of(settings.hive_site)
        unsaid = {name: value for name, value in of_hive.items() if name not in settings.model_fields_set}
        settings = settings.model_copy(update=unsaid)
    if settings.own_schema is None:
        return settings
    return settings.model_copy(update={"database": with_schema(settings.database, settings.own_schema)})

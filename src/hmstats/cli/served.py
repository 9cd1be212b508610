"""The settings of what is served: those in force, and what a Hive's own settings say where ours say nothing."""

from collections.abc import Mapping
from typing import Any

from hmstats.cli.hive_site import settings_of
from hmstats.settings import Settings, load
from hmstats.store.jdbc import with_schema


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

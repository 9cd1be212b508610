"""Calls about the metastore's settings, as Hive names them.

Nobody here reads Hive's settings, and hmstats' own are not shown to callers: what clients ask for is answered, and what
they set is kept for their connection and changes nothing.
"""

import re
from collections.abc import Mapping

from hmstats.errors import MetaError, SettingHidden
from hmstats.model.names import NULL_PARTITION_VALUE
from hmstats.server.session import Session

_READABLE = re.compile(r"(hive|hdfs|mapred|metastore).*", re.DOTALL)
_PREFIX = "metastore."
_META_SETTINGS: Mapping[str, str] = {
    "metastore.client.capability.check": "true",
    "metastore.client.socket.timeout": "600s",
    "metastore.disallow.incompatible.col.type.changes": "true",
    "metastore.partition.name.whitelist.pattern": "",
    "metastore.try.direct.sql": "true",
    "metastore.try.direct.sql.ddl": "true",
}
"""What getMetaConf and setMetaConf know in Hive 4, with Hive's defaults."""


class ConfigurationCalls:
    """get_config_value, getMetaConf, setMetaConf and flushCache."""

    def __init__(self, warehouse: str) -> None:
        self._values = {
            "metastore.warehouse.dir": warehouse,
            "hive.exec.default.partition.name": NULL_PARTITION_VALUE,
        }

    def get_config_value(self, session: Session, name: str | None, defaultValue: str | None) -> str:
        """Where the warehouse is, and the name of the null partition; else the caller's own default.

        Raises SettingHidden for a name that is not Hive's.
        """
        default = defaultValue or ""
        if not name:
            return default
        if not _READABLE.fullmatch(name):
            raise SettingHidden(f"For security reasons, the config key {name} cannot be accessed")
        return self._values.get(_short(name), default)

    def getMetaConf(self, session: Session, key: str | None) -> str:  # noqa: N802
        """A setting of the connection: what the caller set, or Hive's default."""
        name = _meta_setting(key)
        return session.settings.get(name, _META_SETTINGS[name])

    def setMetaConf(self, session: Session, key: str | None, value: str | None) -> None:  # noqa: N802
        """Keep a setting for the connection; it changes nothing. Without a value the default is back."""
        name = _meta_setting(key)
        if value is None:
            session.settings.pop(name, None)
        else:
            session.settings[name] = value

    def flushCache(self, session: Session) -> None:  # noqa: N802
        """Nothing: what is kept in memory is checked against the database before it is used."""


def _short(name: str) -> str:
    """A setting's name since Hive 3, which older clients write with `hive.` before it."""
    return name.removeprefix("hive.") if name.startswith("hive." + _PREFIX) else name


def _meta_setting(key: str | None) -> str:
    name = _short(key or "")
    if name not in _META_SETTINGS:
        raise MetaError(f"Invalid configuration key {key}")
    return name

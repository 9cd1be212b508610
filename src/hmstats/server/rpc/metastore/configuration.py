"""Calls about the metastore's settings, as Hive names them.

This server has no settings of Hive's: a client that asks for one gets the value that this server acts by. A value that
a client sets is stored for its connection, and changes nothing.
"""

import re
from collections.abc import Mapping, Sequence

from hmstats.errors import MetaError, SettingHidden
from hmstats.model.catalog.names import NULL_PARTITION_VALUE
from hmstats.model.catalog.objects import DEFAULT_CATALOG
from hmstats.server.rpc.caller import CANARY, Session

_READABLE = re.compile(r"(hive|hdfs|mapred|metastore).*", re.DOTALL)
_PREFIX = "metastore."
_MOST_CHARACTERS = 4_096
"""The longest value of a setting: a connection holds it as long as it is open."""
_META_SETTINGS: Mapping[str, str] = {
    "metastore.client.capability.check": "true",
    "metastore.client.socket.timeout": "600s",
    "metastore.expression.proxy": "org.apache.hadoop.hive.ql.optimizer.ppr.PartitionExpressionForMetastore",
    "metastore.disallow.incompatible.col.type.changes": "true",
    "metastore.partition.name.whitelist.pattern": "",
    "metastore.try.direct.sql": "true",
    "metastore.try.direct.sql.ddl": "true",
    CANARY: "false",
}
"""The settings of getMetaConf and setMetaConf in Hive 4, with Hive's defaults, and our own."""


_ALWAYS: Mapping[str, str] = {
    "metastore.alter.notifications.basic": "false",
    "metastore.catalog.default": DEFAULT_CATALOG,
    "metastore.disallow.incompatible.col.type.changes": "false",
    "metastore.event.db.notification.api.auth": "false",
    "metastore.notification.parameters.exclude.patterns": "",
    "metastore.notifications.add.thrift.objects": "true",
}
"""Settings by which every server acts, by their names since Hive 3."""


class ConfigurationCalls:
    """get_config_value, getMetaConf, setMetaConf and flushCache."""

    def __init__(self, warehouse: str, roots: Sequence[str] = (), values: Mapping[str, str] | None = None) -> None:
        self._values = {
            "metastore.warehouse.dir": warehouse,
            "metastore.warehouse.roots": ",".join(roots),
            "hive.exec.default.partition.name": NULL_PARTITION_VALUE,
            **_ALWAYS,
            **(values or {}),
        }

    def get_config_value(self, session: Session, name: str | None, defaultValue: str | None) -> str:
        """The value of Hive's setting that this server acts by; else the caller's own default.

        Raises SettingHidden for a name that is not Hive's.
        """
        default = defaultValue or ""
        if not name:
            return default
        if not _READABLE.fullmatch(name):
            raise SettingHidden(f"For security reasons, the config key {name} cannot be accessed")
        return self._values.get(_short(name), default)

    def getMetaConf(self, session: Session, key: str | None) -> str:  # noqa: N802
        """A setting of the connection: the value that the caller has set, or Hive's default."""
        name = _meta_setting(key)
        return session.settings.get(name, _META_SETTINGS[name])

    def setMetaConf(self, session: Session, key: str | None, value: str | None) -> None:  # noqa: N802
        """Store a setting for the connection; hmstats.canary is the only one with an effect. Null resets it."""
        name = _meta_setting(key)
        if value is None:
            session.settings.pop(name, None)
        elif len(value) > _MOST_CHARACTERS:
            raise MetaError(
                f"the value of {key} must have at most {_MOST_CHARACTERS:,} characters, found {len(value):,}"
            )
        else:
            session.settings[name] = value
        if name == CANARY:
            session.look_for_canary()

    def flushCache(self, session: Session) -> None:  # noqa: N802
        """No effect: caches are checked against the database before they are used."""


def _short(name: str) -> str:
    """A setting's name since Hive 3, which older clients write with `hive.` before it."""
    return name.removeprefix("hive.") if name.startswith("hive." + _PREFIX) else name


def _meta_setting(key: str | None) -> str:
    name = _short(key or "")
    if name not in _META_SETTINGS:
        raise MetaError(f"Invalid configuration key {key}")
    return name

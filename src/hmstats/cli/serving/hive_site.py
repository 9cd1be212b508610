"""Reads hive-site.xml or metastore-site.xml, for a server beside that Hive."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from hmstats.errors import SettingsError
from hmstats.private_files import require_private
from hmstats.store.connections.jdbc import database_of

_URL = ("javax.jdo.option.ConnectionURL",)
_USER = ("javax.jdo.option.ConnectionUserName",)
_PASSWORD = ("javax.jdo.option.ConnectionPassword",)
_WAREHOUSE = ("metastore.warehouse.dir", "hive.metastore.warehouse.dir")
_LISTENERS = ("metastore.transactional.event.listeners", "hive.metastore.transactional.event.listeners")
_LISTENERS_AFTER = ("metastore.event.listeners", "hive.metastore.event.listeners")
"""Each setting's names: Hive 3 and 4 have new names and accept the old ones."""
_LOG_LISTENER = "DbNotificationListener"
_DEFAULT_WAREHOUSE = "/user/hive/warehouse"
_VARIABLE = re.compile(r"\$\{[^}]*\}")


def settings_of(path: str) -> dict[str, Any]:
    """Our settings that Hive's file decides: database, warehouse and notifications.

    Events are written only if Hive writes them: else nobody would read or remove them. Raises SettingsError for a file
    that is missing, not Hive's, or has a password and can be read by everybody, and if the database is no PostgreSQL.
    """
    values = _read_properties(path)
    url = _value(path, values, _URL)
    if url is None:
        raise SettingsError(f"{path} must have {_URL[0]}, found no such property")
    password = _value(path, values, _PASSWORD)
    if password:
        require_private("hive_site", path)
    listeners = (_value(path, values, _LISTENERS) or "") + (_value(path, values, _LISTENERS_AFTER) or "")
    return {
        "database": database_of(url, _value(path, values, _USER), password),
        "warehouse": _value(path, values, _WAREHOUSE) or _DEFAULT_WAREHOUSE,
        "notifications": _LOG_LISTENER in listeners,
    }


def logs_in_transactions(path: str) -> bool:
    """Whether the Hive of this file logs its changes in their own transactions. Raises SettingsError as settings_of.

    A listener that Hive calls after the transaction may log a change late or never.
    """
    listeners = (_value(path, _read_properties(path), _LISTENERS) or "").split(",")
    return f"org.apache.hive.hcatalog.listener.{_LOG_LISTENER}" in map(str.strip, listeners)


def _read_properties(path: str) -> dict[str, str]:
    try:
        root = ET.parse(Path(path)).getroot()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except ET.ParseError as error:
        raise SettingsError(f"{path} is no XML: {error}") from error
    if root.tag != "configuration":
        raise SettingsError(f"{path} must have a root <configuration>, found <{root.tag}>")
    each = ((one.findtext("name") or "", one.findtext("value") or "") for one in root.iter("property"))
    return {name.strip(): value.strip() for name, value in each}


def _value(path: str, values: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    """The setting's value. Raises SettingsError for ${...}, which Hive would replace and hmstats does not."""
    found = next((values[name] for name in names if values.get(name)), None)
    if found is not None and _VARIABLE.search(found) and names != _PASSWORD:
        raise SettingsError(f"{path}: {names[0]} must be written out, found a variable: {_VARIABLE.findall(found)[0]}")
    return found

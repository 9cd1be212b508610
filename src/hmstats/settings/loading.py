"""Reads the settings, and says of each where its value came from.

A value is taken from the first of these that has it: a command's flag, the environment (`HMSTATS__PORT`), a file of
`HMSTATS__SECRETS_DIR`, the TOML file named by `HMSTATS__CONFIG` or else `hmstats.toml` in the working directory, the
default. `hmstats config show` prints each value and where it came from.
"""

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError
from pydantic_settings import TomlConfigSettingsSource
from pydantic_settings.exceptions import SettingsError as UnreadableValue

from hmstats.errors import SettingsError
from hmstats.private_files import require_private
from hmstats.secret_files import PREFIX, file_of, secrets_in_files
from hmstats.settings.config_file import CONFIG_FILE_VARIABLE, config_file
from hmstats.settings.fields import SECRET, Settings, has_password

_VARIABLES = frozenset({CONFIG_FILE_VARIABLE, PREFIX + "SECRETS_DIR"})
"""Variables that say where settings are."""
_WITH_URLS = frozenset({"database", "upstreams"})
"""Settings in which URLs of databases are."""
_IN_ENVIRONMENT = frozenset({"token", "client_certificate", "client_key", "metastore_principal"})
"""Settings of the client, which a program without a settings file uses too."""


def load(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force; a flag that is None was not given. Raises SettingsError naming setting and value."""
    path = config_file()
    if os.environ.get(CONFIG_FILE_VARIABLE) and not path.is_file():
        wrong = "is no file" if path.exists() else "does not exist"
        raise SettingsError(f"{CONFIG_FILE_VARIABLE} names {path}, which {wrong}")
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    if any(map(has_password, _databases_in_file())):
        require_private("settings file", str(path))
    for place, name in _unknown():
        raise SettingsError(f"{place}: there is no setting {name}{_nearest(name)}")
    try:
        return Settings(**given)
    except UnreadableValue as error:
        named = re.search(r'field "(\w+)"', str(error))
        name = named[1] if named else "authentication"
        kind = "object" if name == "proxy_users" else "list"
        raise SettingsError(f"setting {name} must be a JSON {kind}") from None
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        if first["type"] == SECRET:
            raise SettingsError(f"setting {name}: {first['msg']}") from None
        # No cause: its text has the value too.
        expected = first["msg"].replace("a valid tuple", "a valid list")
        raise SettingsError(f"setting {name}: {expected}, found {_shown(name, first.get('input'))}") from None


def _shown(name: str, value: object) -> str:
    """The text of an invalid value for an error, without the URL of a database, which may have a password."""
    has_url = name.partition(".")[0] in _WITH_URLS and "://" in repr(value)
    return "a value with a URL, which is not shown" if has_url else repr(value)


def _unknown() -> Iterator[tuple[str, str]]:
    """The source and name of each given setting that does not exist.

    Raises SettingsError for invalid TOML, and for settings that a file cannot have.
    """
    ours = [name for name in sorted(os.environ) if name.upper().startswith(PREFIX)]
    for variable in ours:
        name = variable.upper().removeprefix(PREFIX).lower()
        if variable not in _VARIABLES and name not in Settings.model_fields:
            yield f"variable {variable}", name
    for name in _in_file():
        if name in _IN_ENVIRONMENT:
            raise SettingsError(f"{config_file()}: {name} must be the variable {PREFIX}{name.upper()}, found in a file")
        if name not in Settings.model_fields:
            yield str(config_file()), name


def _in_file() -> Mapping[str, Any]:
    """The settings in the TOML file. Raises SettingsError when it cannot be read."""
    try:
        return TomlConfigSettingsSource(Settings, config_file()).toml_data
    except (ValueError, OSError) as error:
        raise SettingsError(f"{config_file()} cannot be read: {error}") from error


def _databases_in_file() -> Iterator[str]:
    """The URLs of databases in the TOML file."""
    upstreams = _in_file().get("upstreams", ())
    tables = upstreams if isinstance(upstreams, list) else ()
    yield from (str(each.get("database", "")) for each in (_in_file(), *tables) if isinstance(each, Mapping))


def _nearest(name: str) -> str:
    """The end of an error about an unknown setting: the most similar setting, or where all are listed."""
    nearest = get_close_matches(name.lower(), Settings.model_fields, n=1)
    return f", is it {nearest[0]}?" if nearest else "; `hmstats config show` prints all"


def origin(name: str, flags: Mapping[str, Any] | None = None) -> str:
    """The origin of a setting's value: a flag, a variable, the file, or the default."""
    if (flags or {}).get(name) is not None:
        return "flag"
    variable = PREFIX + name.upper()
    if os.environ.get(variable):
        return variable
    if name in secrets_in_files():
        return file_of(name)
    if name in _in_file():
        return str(config_file())
    return "default"

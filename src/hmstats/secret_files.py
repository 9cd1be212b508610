"""Secrets in files of a folder, as Kubernetes, Docker and Vault's agent give them.

The variable HMSTATS__SECRETS_DIR names the folder. A file is called as the variable that it stands for, such as
HMSTATS__DATABASE; other files are left alone.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from hmstats.errors import SettingsError
from hmstats.private_files import require_private

PREFIX = "HMSTATS__"
FOLDER_VARIABLE = PREFIX + "SECRETS_DIR"
_SETTINGS = ("database", "token")
"""The settings that hold secrets; the others name files, or may be told."""


def secrets_in_files() -> Mapping[str, str]:
    """The secrets by their settings; none if no folder is named.

    Raises SettingsError if a file cannot be read, has another name, or if everybody can read it.
    """
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return {}
    try:
        names = [each.name for each in Path(folder).iterdir() if each.name.startswith(PREFIX)]
    except OSError as error:
        raise SettingsError(f"{FOLDER_VARIABLE} {folder} cannot be read: {error.strerror}") from error
    known = {PREFIX + setting.upper(): setting for setting in _SETTINGS}
    for name in names:
        if name not in known:
            raise SettingsError(f"{FOLDER_VARIABLE} {folder} may have the files {', '.join(known)}, found {name}")
    return {known[name]: _text(str(Path(folder) / name)) for name in names}


def file_of(setting: str) -> str:
    """The file that a setting is read from."""
    return str(Path(os.environ[FOLDER_VARIABLE]) / (PREFIX + setting.upper()))


def _text(file: str) -> str:
    require_private(FOLDER_VARIABLE, file)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{FOLDER_VARIABLE} {file} cannot be read: {type(error).__name__}") from error

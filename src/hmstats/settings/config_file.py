"""The TOML file of settings: `hmstats.toml` in the working directory, unless HMSTATS__CONFIG names another."""

import os
from pathlib import Path

from hmstats.secret_files import PREFIX

CONFIG_FILE_VARIABLE = PREFIX + "CONFIG"
_DEFAULT = "hmstats.toml"


def config_file() -> Path:
    """The TOML file that settings are read from, which may not exist."""
    return Path(os.environ.get(CONFIG_FILE_VARIABLE) or _DEFAULT)

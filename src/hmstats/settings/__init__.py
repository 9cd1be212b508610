"""The settings of the commands and of the server.

fields       every setting: unit, default and one sentence each
upstreams    the settings of one of several upstreams
config_file  the TOML file that they are read from
loading      reads settings from flags, the environment and files, and tells the origin of each
"""

from hmstats.settings.config_file import CONFIG_FILE_VARIABLE, config_file
from hmstats.settings.fields import MOST_WORKERS, Settings
from hmstats.settings.loading import load, origin
from hmstats.settings.upstreams import UpstreamSetting

__all__ = [
    "CONFIG_FILE_VARIABLE",
    "MOST_WORKERS",
    "Settings",
    "UpstreamSetting",
    "config_file",
    "load",
    "origin",
]

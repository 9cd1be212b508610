"""The user that runs the process, in whose name calls are sent, and in whose home files are kept."""

import getpass
import os
import pwd
from pathlib import Path

from hmstats.errors import HmstatsError


def user_name() -> str:
    """The user's name; the number if the system has no name for it, as in a container that runs as any user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # KeyError before Python 3.13
        return str(os.getuid())


def has_name() -> bool:
    """Whether the system has a name for the user, whatever the environment says."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


def home_folder() -> Path:
    """The user's home. Raises HmstatsError if there is none."""
    try:
        return Path.home()
    except RuntimeError as error:
        raise HmstatsError(f"user {user_name()}: no home folder is known, set HOME") from error

"""`hmstats serve`: become the parent of the workers (cli/serving/parent.py)."""

import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from hmstats.secret_files import PREFIX


def become_server(flags: Mapping[str, Any]) -> NoReturn:
    """Replace this process by the parent, which needs none of the command line's libraries.

    All processes read the settings from the environment, where the flags are put; one that is None was not given.
    """
    given = {PREFIX + name.upper(): str(value) for name, value in flags.items() if value is not None}
    command = [sys.executable, "-P", "-m", "hmstats.cli.serving.parent"]
    os.execve(sys.executable, command, {**os.environ, **given})

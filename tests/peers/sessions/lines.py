"""The output of a program that talks to a metastore, one line for each step."""

import subprocess
from collections.abc import Sequence
from pathlib import Path


def printed(command: Sequence[str | Path], folder: Path) -> list[str]:
    """The lines of a program that must succeed, with FOLDER for the folder."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return [line.replace(str(folder), "FOLDER") for line in done.stdout.splitlines()]

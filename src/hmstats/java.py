"""The Java of this machine, which Spark needs: where it is, and how new."""

import os
import re
import shutil
import subprocess
from pathlib import Path

LEAST_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def java_path() -> Path | None:
    """The Java program that Spark starts: that of JAVA_HOME, else the first on the PATH; None if it cannot be run."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return Path(found) if found is not None and os.access(found, os.X_OK) else None


def java_version(path: Path) -> int | None:
    """The major version of a Java; None if it cannot be told."""
    done = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    found = _VERSION.search(done.stderr)
    return int(found[1]) if found else None

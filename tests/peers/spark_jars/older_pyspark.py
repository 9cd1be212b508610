"""A table format's runtime for Spark from Maven, and a PySpark that it runs in, beside the one installed."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.peers import cache, launch


@dataclass(frozen=True, slots=True)
class Parts:
    """A folder to put before all others of PYTHONPATH, and the jar."""

    packages: Path
    jar: Path


def fetched(folder: Path, group: str, artifact: str, version: str, pyspark: str) -> Parts:
    """The runtime's jar and a PySpark such as `4.1.1` or `3.5.*`, fetched into the folder on first use."""
    parts = Parts(folder / "packages", folder / f"{artifact}-{version}.jar")
    with cache.filling(folder) as empty:
        if empty:
            options = (f"-Dartifact={group}:{artifact}:{version}", f"-DoutputDirectory={folder}")
            launch.maven(["dependency:copy", *options], folder, folder / "maven.log")
            to = ("--target", str(parts.packages))
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *to, f"pyspark=={pyspark}"], check=True)
    return parts

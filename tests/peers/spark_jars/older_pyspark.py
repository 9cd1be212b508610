"""Installs a PySpark beside the one that is installed, in a folder of its own."""

import subprocess
import sys
from pathlib import Path


def install(version: str, packages: Path) -> None:
    """Install the newest PySpark of a minor version into a folder, which goes before all others of PYTHONPATH."""
    to = ("--target", str(packages))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *to, f"pyspark=={version}.*"], check=True)

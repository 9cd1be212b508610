"""The programs and packages of this machine: hmstats, Python, PySpark, Java."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import hmstats
from hmstats.cli.diagnosis.finding import Finding, ok, problem, warning
from hmstats.extras import install_advice
from hmstats.java import LEAST_JAVA, java_path, java_version

_SPARK = install_advice("spark")
_WITH_SPARK = ("pandas", "sqlglot")
"""The packages that the collector needs beside PySpark."""
_LEAST_SPARK, _ABOVE_SPARK = 4, 5
_VARIABLE = "PYSPARK_PYTHON"


def versions(*, spark_is_needed: bool) -> Iterator[Finding]:
    """A finding for each program. If Spark is not needed, a missing PySpark or Java is a warning."""
    yield ok("hmstats", f"{hmstats.__version__} in {Path(hmstats.__file__).parent}")
    yield ok("Python", f"{platform.python_version()} at {sys.executable}")
    missing = problem if spark_is_needed else warning
    pyspark = _installed_version("pyspark")
    if pyspark is None:
        yield missing("PySpark", "is not installed; analyze and check need it", _SPARK)
        return
    if not _LEAST_SPARK <= int(pyspark.partition(".")[0]) < _ABOVE_SPARK:
        yield problem("PySpark", f"{pyspark}, needed is {_LEAST_SPARK}.x", _SPARK)
    elif lacking := [name for name in _WITH_SPARK if _installed_version(name) is None]:
        yield problem("PySpark", f"{pyspark}, without {', '.join(lacking)}", _SPARK)
    else:
        yield ok("PySpark", pyspark)
    yield _java(missing=missing)
    yield _workers_python()


def _java(*, missing: type[Finding] | object) -> Finding:
    make = problem if missing is problem else warning
    path = java_path()
    advice = f"install Java {LEAST_JAVA} or newer (Debian: openjdk-{LEAST_JAVA}-jre-headless), or name it in JAVA_HOME"
    if path is None:
        return make("Java", f"is not at {_java_location()}; Spark needs it", advice)
    found = java_version(path)
    if found is None:
        return make("Java", f"{path} does not say its version", advice)
    if found < LEAST_JAVA:
        return make("Java", f"{found} at {path}, needed is {LEAST_JAVA} or newer", advice)
    return ok("Java", f"{found} at {path}")


def _java_location() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"{home}/bin/java, as JAVA_HOME says" if home else "any place of PATH"


def _workers_python() -> Finding:
    """Whether the Python of Spark's tasks has the driver's minor version."""
    named = os.environ.get(_VARIABLE)
    if not named:
        return ok(_VARIABLE, "is not set; tasks on this machine run in the Python of the driver")
    path = shutil.which(named)
    if path is None:
        return problem(_VARIABLE, f"{named} is not there, or cannot be run", f"unset {_VARIABLE}, or name another")
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
    if done.stdout.strip() != own:
        found = f"{path} is Python {done.stdout.strip() or 'of no known version'}, the driver's is {own}"
        return problem(_VARIABLE, found, f"set {_VARIABLE} to a Python {own} that has hmstats, or unset it")
    return ok(_VARIABLE, path)


def _installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

"""Finds the folders of the IDL and the migrations: in a checkout, in an installed wheel, or in a zip file of it."""

import atexit
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path

from hmstats.errors import HmstatsError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `thrift` or `migrations`. Raises HmstatsError naming both places when it is in neither."""
    installed, checkout = _PACKAGE / name, _PACKAGE.parents[1] / name
    for place in (installed, checkout):
        if place.is_dir():
            return place
    if zipfile.is_zipfile(_PACKAGE.parent):
        return _unpacked(_PACKAGE.parent, f"{_PACKAGE.name}/{name}/")
    raise HmstatsError(f"the folder {name} is neither at {installed} nor at {checkout}: the installation is incomplete")


@cache
def _unpacked(package: Path, inside: str) -> Path:
    """A temporary copy of a folder of a zip file, in which Spark sends packages to executors."""
    place = tempfile.mkdtemp(prefix="hmstats-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    with zipfile.ZipFile(package) as packed:
        packed.extractall(place, [each for each in packed.namelist() if each.startswith(inside)])
    return Path(place) / inside

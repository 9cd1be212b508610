"""Where the IDL and the migrations lie: at the top of a checkout, and inside an installed wheel."""

from pathlib import Path

from hmstats.errors import HmstatsError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `thrift` or `migrations`. Raises HmstatsError naming both places when it is in neither."""
    installed, checkout = _PACKAGE / name, _PACKAGE.parents[1] / name
    for place in (installed, checkout):
        if place.is_dir():
            return place
    raise HmstatsError(f"the folder {name} is neither at {installed} nor at {checkout}: the installation is incomplete")

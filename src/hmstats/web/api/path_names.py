"""Names of columns as parts of a path. Browsers and other clients remove the parts `.` and `..`, encoded or not."""

import re

from hmstats.model.catalog.names import quote_name

_QUOTED = re.compile(r"`((?:[^`]|``)+)`")


def path_column(name: str) -> str:
    """The part of a path that names a column: the name itself, or in backquotes where it would be misread."""
    return quote_name(name) if name in (".", "..") or _QUOTED.fullmatch(name) else name


def column_in_path(part: str) -> str:
    """The column that a part of a path names, in backquotes or not: the inverse of `path_column`."""
    quoted = _QUOTED.fullmatch(part)
    return part if quoted is None else quoted[1].replace("``", "`")

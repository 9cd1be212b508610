"""Tells how an optional part of hmstats (an extra) is installed.

The package is on no index, where its name is anybody's: it is installed from its own folder.
"""


def install_advice(extra: str) -> str:
    """The advice for a user whose installation lacks an extra."""
    return f"pip install '.[{extra}]' in the folder of hmstats"

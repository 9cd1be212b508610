"""Parses the arguments of `hmstats analyze` and `check` before Spark is loaded."""

import importlib.util

from hmstats.errors import SettingsError
from hmstats.extras import install_advice


def sketches_made(*, bounds_only: bool | None, histogram: bool | None, top_k: bool | None) -> dict[str, bool | None]:
    """Which sketches are computed, by the name of the option; None if nothing is said of them."""
    if bounds_only:
        return {"distinct": False, "histogram": False, "top_k": False}
    distinct = None if bounds_only is None else True
    return {"distinct": distinct, "histogram": histogram, "top_k": top_k}


def settings_of_spark(texts: list[str]) -> dict[str, str]:
    """The settings in texts KEY=VALUE. Raises SettingsError for a text without a = or a key."""
    pairs = [text.partition("=") for text in texts]
    for text, (key, separator, _) in zip(texts, pairs, strict=True):
        if not key or not separator:
            raise SettingsError(f"--conf must be KEY=VALUE, found {text!r}")
    return {key: value for key, _, value in pairs}


def need_spark(command: str) -> None:
    """Raise SettingsError if Spark, which a command needs, is not installed."""
    if importlib.util.find_spec("pyspark") is None:
        raise SettingsError(f"{command} needs Spark, which is not installed: {install_advice('spark')}")

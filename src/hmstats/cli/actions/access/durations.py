"""Options that are durations, such as 90d, 12h, 30m, 5s."""

from hmstats.errors import SettingsError
from hmstats.model.durations import parse_seconds


def seconds_of(option: str, text: str) -> int:
    """The seconds of an option's text, more than 0. Raises SettingsError."""
    seconds = parse_seconds(text)
    if not seconds:
        raise SettingsError(f"{option} must be a number and w, d, h, m or s, as 90d, found {text!r}")
    return seconds

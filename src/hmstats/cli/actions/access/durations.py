"""Times that users write as a number and a unit: 90d, 12h, 30m, 5s."""

import re

from hmstats.errors import SettingsError

_UNIT_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}


def seconds_of(option: str, text: str) -> float:
    """The seconds of an option's text. Raises SettingsError."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([dhms])", text)
    if found is None:
        raise SettingsError(f"{option} must be a number and d, h, m or s, as 90d, found {text!r}")
    return float(found[1]) * _UNIT_SECONDS[found[2]]

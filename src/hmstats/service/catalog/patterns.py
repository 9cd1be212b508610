"""Hive's name patterns: `*` is anything, `.` one character, `|` stands between alternatives; case does not matter."""

import re
from collections.abc import Iterable


def matching(names: Iterable[str], pattern: str | None) -> list[str]:
    """The names that a pattern matches, in order. No pattern, or an empty one, matches every name."""
    if not pattern:
        return list(names)
    alternatives = "|".join(map(_expression, pattern.split("|")))
    compiled = re.compile(alternatives, re.IGNORECASE)
    return [name for name in names if compiled.fullmatch(name)]


def _expression(alternative: str) -> str:
    # Java clients write `.*` where Hive means `*`: both are "anything".
    escaped = re.escape(alternative.replace(".*", "*"))
    return escaped.replace(r"\*", ".*").replace(r"\.", ".")

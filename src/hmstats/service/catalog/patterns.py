"""Hive's name patterns: `*` is anything, `.` one character, `|` stands between alternatives; case does not matter."""

import re
from collections.abc import Iterable

from hmstats.model.catalog.wildcards import compile_any

_MOST_BEGINNINGS = 100
"""Most alternatives sent to the database; a longer query would read most tables anyway."""
_LONGEST_BEGINNING = 256
"""Longest text sent to the database, in characters; SQLite refuses patterns of tens of thousands."""
_WILDCARD = re.compile(r"[*.]")


def matching(names: Iterable[str], pattern: str | None) -> list[str]:
    """The names that a pattern matches, in their order; if it is None or empty, all.

    Alternatives without a wildcard may be any number. Those with a wildcard may have wildcards.MOST_CHARACTERS
    together. Raises MetaError for more.
    """
    if not pattern:
        return list(names)
    alternatives = {each.lower() for each in pattern.split("|")}
    # Java clients write `.*` where Hive means `*`: both are "anything".
    wild = sorted({each.replace(".*", "*") for each in alternatives if _WILDCARD.search(each)})
    if not wild:
        return [name for name in names if name.lower() in alternatives]
    fits = compile_any(wild, any_text="*", any_character=".").fullmatch
    return [name for name in names if (lower := name.lower()) in alternatives or fits(lower)]


def beginnings(pattern: str | None) -> list[str] | None:
    """Prefixes, one of which begins each matching name, for a query; None if any name may match."""
    if not pattern:
        return None
    prefixes = [_WILDCARD.split(each, maxsplit=1)[0].lower() for each in pattern.split("|")]
    if "" in prefixes or len(prefixes) > _MOST_BEGINNINGS or max(map(len, prefixes)) > _LONGEST_BEGINNING:
        return None
    return prefixes


def literals(pattern: str | None) -> list[str] | None:
    """The names themselves, in lower case, of a pattern without wildcards; None if other names may match."""
    if not pattern or _WILDCARD.search(pattern):
        return None
    return [each.lower() for each in pattern.split("|")]

"""Hive's name patterns: `*` is anything, `.` one character, `|` stands between alternatives; case does not matter."""

import re
from collections.abc import Iterable

from hmstats.model.catalog.wildcards import compile_any
from hmstats.store.catalog.tables import KnownParts

_MOST_ALTERNATIVES = 100
"""Most alternatives sent to the database; a longer query would read most tables anyway."""
_LONGEST_PART = 256
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


def known_parts(pattern: str | None) -> KnownParts | None:
    """Texts, in lower case, one of which is in each matching name, for a query; None if any name may match."""
    if not pattern:
        return None
    alternatives = pattern.lower().split("|")
    if len(alternatives) > _MOST_ALTERNATIVES:
        return None
    beginnings, inner = list[str](), list[str]()
    for each in alternatives:
        beginning, *rest = _WILDCARD.split(each)
        longest = max(rest, key=len, default="")
        if not (beginning or longest) or max(len(beginning), len(longest)) > _LONGEST_PART:
            return None
        if beginning:
            beginnings.append(beginning)
        else:
            inner.append(longest)
    return KnownParts(tuple(beginnings), tuple(inner))


def literals(pattern: str | None) -> list[str] | None:
    """The names themselves, in lower case, of a pattern without wildcards; None if other names may match."""
    if not pattern or _WILDCARD.search(pattern):
        return None
    return [each.lower() for each in pattern.split("|")]

"""Clients' patterns with wildcards, as regular expressions in at most O(pattern * text) time.

A wildcard for any text matches up to the first position at which the next part fits, in an atomic group. A later
position would not help, since the rest may begin earlier too; only the last part must end the text.
"""

import re

from hmstats.errors import MetaError

MOST_CHARACTERS = 4_000
"""The longest pattern; compiling a longer one would delay other clients."""
LIKE_TOKEN = re.compile(r"\\.|\.\*|.", re.DOTALL)
"""A token of a filter's pattern: an escaped character, a wildcard for any text, or one character."""
_SQL_TOKEN = re.compile(r"\\.|.", re.DOTALL)


def compile_pattern(pattern: str, *, any_text: str, any_character: str, flags: int = 0) -> re.Pattern[str]:
    """The expression whose fullmatch tells whether a text matches. Raises MetaError if the pattern is too long."""
    check_length(pattern)
    return re.compile(_expression(pattern, any_text, any_character), flags | re.DOTALL)


def compile_any(patterns: list[str], *, any_text: str, any_character: str, flags: int = 0) -> re.Pattern[str]:
    """The expression whose fullmatch tells whether a text matches one of the patterns.

    Raises MetaError as `compile_pattern`.
    """
    check_length("|".join(patterns))
    expressions = [_expression(pattern, any_text, any_character) for pattern in patterns]
    return re.compile("|".join(expressions), flags | re.DOTALL)


def compile_like(pattern: str) -> re.Pattern[str]:
    """The expression of a filter's pattern: `.*` and `%` are any text, `.` and `_` any character; a backslash escapes.

    Raises MetaError if the pattern is too long.
    """
    check_length(pattern)
    return _compile_tokens(LIKE_TOKEN.findall(pattern), any_text=(".*", "%"), any_character=(".", "_"))


def compile_sql_like(pattern: str) -> re.Pattern[str]:
    """The expression of SQL's LIKE: `%` is any text, `_` any character; a backslash escapes.

    Raises MetaError if the pattern is too long.
    """
    check_length(pattern)
    return _compile_tokens(_SQL_TOKEN.findall(pattern), any_text=("%",), any_character=("_",))


def check_length(pattern: str) -> None:
    """Raise MetaError when the pattern is longer than MOST_CHARACTERS."""
    if len(pattern) > MOST_CHARACTERS:
        raise MetaError(
            f"a pattern may have {MOST_CHARACTERS} characters, found {len(pattern)}; it begins {pattern[:40]!r}"
        )


def _compile_tokens(tokens: list[str], *, any_text: tuple[str, ...], any_character: tuple[str, ...]) -> re.Pattern[str]:
    parts = [""]
    for each in tokens:
        if each in any_text:
            parts.append("")
        else:
            parts[-1] += "." if each in any_character else re.escape(each[-1])
    return re.compile(_join(parts), re.DOTALL)


def _expression(pattern: str, any_text: str, any_character: str) -> str:
    return _join([".".join(map(re.escape, part.split(any_character))) for part in pattern.split(any_text)])


def _join(parts: list[str]) -> str:
    """The expressions of parts with any text between them."""
    first, *others = parts
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>.*?{part})" for part in middle if part) + ".*" + last

"""Access rules in TOML: tables `[[rule]]` in order, with `users`, `groups`, `objects` and `allow`.

An absent `users`, `groups` or `objects` stands for any; `allow` must be there, and may be empty.
"""

import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from hmstats.errors import MetaError, SettingsError
from hmstats.model.access.actions import Action
from hmstats.model.access.rules import Pattern, Rule, Rules
from hmstats.model.catalog.wildcards import check_length

_RULE = "rule"
_KEYS = ("users", "groups", "objects", "allow")
_MOST_PARTS = 3


def parse_rules(text: str, file: str) -> Rules:
    """The rules in a text. Raises SettingsError with the file, the rule's number and the key that is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is no valid TOML: {error}") from error
    _refuse_unknown(file, content, (_RULE,))
    tables = content.get(_RULE, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise SettingsError(f"{file}: rules must be tables [[rule]], found {_RULE} = {tables!r}")
    return Rules(tuple(_rule(f"{file}, rule {number}", number, each) for number, each in enumerate(tables, 1)))


def parse_object(text: str) -> tuple[str, ...]:
    """The parts of an object's name or pattern, in lower case. Raises SettingsError unless it has one to three."""
    parts = tuple(text.lower().split("."))
    if not all(parts) or len(parts) > _MOST_PARTS:
        raise SettingsError(f"an object must be catalog, catalog.database or catalog.database.table, found {text!r}")
    return parts


def _rule(place: str, number: int, table: Mapping[str, Any]) -> Rule:
    _refuse_unknown(place, table, _KEYS)
    if "allow" not in table:
        raise SettingsError(f"{place}: allow must be a list of actions, which may be empty; found none")
    users, groups, objects = (_texts(place, table, key) for key in ("users", "groups", "objects"))
    return Rule(number, users, groups, _patterns(place, objects), _actions(place, _texts(place, table, "allow") or ()))


def _texts(place: str, table: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
    """The texts of a key's list; None if the key is absent. An empty list of users would be a rule about nobody."""
    if key not in table:
        return None
    value = table[key]
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise SettingsError(f"{place}: {key} must be a list of texts, found {value!r}")
    if not value and key != "allow":
        raise SettingsError(f"{place}: {key} must name something, found []; leave it out for any")
    try:
        for each in value:
            check_length(each)
    except MetaError as error:
        raise SettingsError(f"{place}: {key}: {error}") from error
    return tuple(value)


def _patterns(place: str, texts: Iterable[str] | None) -> tuple[Pattern, ...] | None:
    if texts is None:
        return None
    try:
        return tuple(Pattern(parse_object(each)) for each in texts)
    except SettingsError as error:
        raise SettingsError(f"{place}: objects: {error}") from error


def _actions(place: str, names: Iterable[str]) -> frozenset[Action]:
    known = [action.value for action in Action]
    for name in names:
        if name not in known:
            said = _nearest(name, known) or f"; expected some of {', '.join(known)}"
            raise SettingsError(f"{place}: allow: action {name!r} does not exist{said}")
    return frozenset(map(Action, names))


def _refuse_unknown(place: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            said = _nearest(key, keys) or f"; expected some of {', '.join(keys)}"
            raise SettingsError(f"{place}: there is no key {key!r}{said}")


def _nearest(name: str, known: Iterable[str]) -> str:
    nearest = get_close_matches(name, list(known), n=1)
    return f", is it {nearest[0]}?" if nearest else ""

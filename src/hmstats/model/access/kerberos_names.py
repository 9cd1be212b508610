"""The users of Kerberos principals, by rules as Hadoop writes them in hadoop.security.auth_to_local.

Rules stand in order, and the first that is about a principal decides:

    RULE:[2:$1](hive|spark)s/hive/admin/     principals of two parts whose first is hive or spark
    RULE:[1:$1@$0](.*@OTHER.ORG)s/@.*//L     principals of one part and the realm OTHER.ORG, in lower case
    DEFAULT                                  the first part of any principal of the default realm

Form and meaning are those of org.apache.hadoop.security.authentication.util.KerberosName.
"""

import re
import socket
from dataclasses import dataclass

from hmstats.errors import NotAuthenticated, SettingsError
from hmstats.model.access.principal import is_user_name

_RULE = re.compile(
    r"\s*(?:(?P<default>DEFAULT)|RULE:\[(?P<parts>\d+):(?P<form>[^\]]*)\](?:\((?P<fits>[^)]*)\))?"
    r"(?P<change>s/(?P<old>[^/]*)/(?P<new>[^/]*)/(?P<all>g)?)?)/?(?P<lower>L)?"
)
_NAME = re.compile(r"(?P<first>[^/@\\]+)(?:/(?P<second>[^/@\\]+))?@(?P<realm>[^/@\\]+)")
_PART = re.compile(r"\$(\d*)")
_MOST_CHARACTERS = 1_024
_HOST = "_HOST"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule; `parts` None is DEFAULT."""

    parts: int | None
    form: str = ""
    fits: re.Pattern[str] | None = None
    old: re.Pattern[str] | None = None
    new: str = ""
    count: int = 1
    """The number of matches of `old` that are replaced; 0 is all."""
    lower: bool = False


class KerberosRules:
    """The rules of a server, whose realm is the default one."""

    def __init__(self, text: str, realm: str) -> None:
        """Raises SettingsError for rules that cannot be read."""
        self._realm = realm
        self._rules = _parse_rules(text)

    def user(self, principal: str) -> str:
        """The user of a principal, as `alice@EXAMPLE.ORG`. Raises NotAuthenticated if no rule gives one."""
        name = _NAME.fullmatch(principal) if len(principal) <= _MOST_CHARACTERS else None
        if name is None:
            raise NotAuthenticated("a principal must be NAME@REALM or NAME/HOST@REALM, found another")
        parts = [name["realm"], name["first"], *([name["second"]] if name["second"] else [])]
        user = next((found for each in self._rules if (found := self._apply(each, parts)) is not None), None)
        if user is None:
            raise NotAuthenticated(f"no rule of the setting kerberos_rules is about the principal {principal}")
        if "/" in user or "@" in user or not is_user_name(user):
            raise NotAuthenticated(f"the setting kerberos_rules must make a user of {principal}, found {user!r}")
        return user

    def user_of(self, name: str) -> str:
        """The user of a principal, or of a name without realm, which has the server's; a plain name is the user itself.

        Raises NotAuthenticated if no rule gives one.
        """
        if "@" in name:
            return self.user(name)
        return self.user(f"{name}@{self._realm}") if "/" in name else name

    def _apply(self, rule: _Rule, parts: list[str]) -> str | None:
        """The user that a rule makes of a realm and parts; None if the rule does not match them."""
        if rule.parts is None:
            return parts[1] if parts[0] == self._realm else None
        if rule.parts != len(parts) - 1:
            return None
        text = _PART.sub(lambda found: parts[int(found[1])], rule.form)
        if rule.fits is not None and rule.fits.fullmatch(text) is None:
            return None
        if rule.old is not None:
            text = rule.old.sub(rule.new, text, count=rule.count)
        return text.lower() if rule.lower else text


def service_principal(text: str) -> str:
    """A server's principal with this machine's name for _HOST. Raises SettingsError unless it has three parts."""
    name = _NAME.fullmatch(text)
    if name is None or name["second"] is None:
        raise SettingsError(f"kerberos_principal must be SERVICE/HOST@REALM, found {text}")
    return text.replace(f"/{_HOST}@", f"/{socket.getfqdn().lower()}@")


def _parse_rules(text: str) -> list[_Rule]:
    rules, rest = [], text.strip()
    while rest:
        found = _RULE.match(rest)
        if found is None:
            raise SettingsError(f"kerberos_rules must have rules as RULE:[1:$1] or DEFAULT, found {rest[:80]!r}")
        rules.append(_rule(found))
        rest = rest[found.end() :].lstrip()
    if not rules:
        raise SettingsError("kerberos_rules must have one rule at least, found none")
    return rules


def _rule(found: re.Match[str]) -> _Rule:
    if found["default"]:
        return _Rule(None)
    parts = int(found["parts"])
    for number in _PART.findall(found["form"]):
        if not number or int(number) > parts:
            raise SettingsError(f"kerberos_rules: ${number} in {found[0].strip()} must be a number up to {parts}")
    try:
        fits = None if found["fits"] is None else re.compile(found["fits"])
        old = None if found["change"] is None else re.compile(found["old"])
        new = _replacement(found["new"] or "")
        if old is not None:
            old.sub(new, "")
    except (re.error, IndexError) as error:
        raise SettingsError(f"kerberos_rules: {found[0].strip()} has a wrong expression: {error}") from error
    return _Rule(parts, found["form"], fits, old, new, 0 if found["all"] else 1, bool(found["lower"]))


def _replacement(text: str) -> str:
    """A replacement of Java's regular expressions, where $1 is a group, as Python writes it."""
    return re.sub(r"\\(.)|\$(\d)", _in_python, text)


def _in_python(found: re.Match[str]) -> str:
    return rf"\g<{found[2]}>" if found[2] else found[1].replace("\\", r"\\")

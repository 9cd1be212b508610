"""DNs and filters of LDAP with a place for a name, which is escaped so that it stays one value."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import ldap.dn
import ldap.filter

from hmstats.errors import SettingsError

USER, GROUP, DN = "{user}", "{group}", "{dn}"

_Names = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DnTemplate:
    """The DN of an entry with a name, as `uid={user},ou=people,dc=example,dc=org`."""

    text: str
    place: str
    """The placeholder of the name, such as {user}."""
    attribute: str
    above: _Names
    """The attributes and values after the first one, in lower case."""

    @classmethod
    def read(cls, setting: str, text: str, place: str) -> "DnTemplate":
        """The template in a setting. Raises SettingsError if the text is no DN whose first value is the place."""
        names = _names(text)
        if not names or names[0][1] != place or text.count(place) != 1:
            raise SettingsError(f"{setting} must be a DN that begins with ATTRIBUTE={place}, found {text}")
        return cls(text, place, names[0][0].lower(), _lower(names[1:]))

    def dn_of(self, name: str) -> str:
        """The DN with a name, which is escaped (RFC 4514)."""
        return self.text.replace(self.place, ldap.dn.escape_dn_chars(name))

    def name_in(self, dn: str) -> str | None:
        """The name in a DN of this form; None if it has another form."""
        names = _names(dn)
        if not names or names[0][0].lower() != self.attribute or _lower(names[1:]) != self.above:
            return None
        return names[0][1]


@dataclass(frozen=True, slots=True)
class FilterTemplate:
    """The filter that finds what belongs to a user, as `(&(objectClass=person)(uid={user}))` (RFC 4515)."""

    text: str

    @classmethod
    def read(cls, setting: str, text: str, *places: str) -> "FilterTemplate":
        """The template in a setting. Raises SettingsError if it has no brackets around it, or none of the places."""
        if not (text.startswith("(") and text.endswith(")")) or not any(each in text for each in places):
            named = " or ".join(places)
            raise SettingsError(f"{setting} must be a filter in brackets with {named} in it, found {text}")
        return cls(text)

    def of(self, user: str, dn: str = "") -> str:
        """The filter with a user's name and DN, which are escaped."""
        given = {USER: user, DN: dn}
        # All places at once, so that a name that looks like a place stays a name.
        return re.sub(r"\{user\}|\{dn\}", lambda place: ldap.filter.escape_filter_chars(given[place[0]]), self.text)


def require_dn(setting: str, text: str) -> None:
    """Raise SettingsError if the text in a setting is no DN."""
    if not ldap.dn.is_dn(text) or not text:
        raise SettingsError(f"{setting} must be a DN, found {text}")


def _names(dn: str) -> _Names:
    """The attribute and value of each part of a DN; nothing if the text is no DN, or if a part has several."""
    try:
        parts = ldap.dn.str2dn(dn)
    except ldap.DECODING_ERROR:
        return ()
    return [(part[0][0], part[0][1]) for part in parts] if all(len(part) == 1 for part in parts) else ()


def _lower(names: _Names) -> _Names:
    return tuple((attribute.lower(), value.lower()) for attribute, value in names)

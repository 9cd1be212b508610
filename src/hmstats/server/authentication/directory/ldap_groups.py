"""The groups of a user that a directory has proven: by its entry's memberOf, or by a search for groups that name it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ldap

from hmstats.server.authentication.directory.ldap_names import DnTemplate, FilterTemplate, require_dn
from hmstats.server.authentication.directory.ldap_users import ProvenUser, values_of

_Entry = tuple[str | None, Mapping[str, Sequence[bytes]]]


class Grouping(Protocol):
    """Finds groups over a connection. Raises ldap.LDAPError if the directory cannot tell."""

    def names(self, connection: Any, found: ProvenUser, /) -> tuple[str, ...]:
        """The names of a user's groups."""


@dataclass(frozen=True, slots=True)
class ByMemberOf:
    """Groups whose DN the user's entry has in memberOf, in the form of a template; others are left out."""

    groups: DnTemplate

    def names(self, _: Any, found: ProvenUser) -> tuple[str, ...]:
        """The names in the DNs; nothing is asked."""
        return tuple(name for each in found.member_of if (name := self.groups.name_in(each)) is not None)


@dataclass(frozen=True, slots=True)
class BySearchOfGroups:
    """Groups below a DN whose entries name the user, by its DN or its name."""

    base: str
    filter: FilterTemplate
    attribute: str
    """The attribute of a group's entry that is its name."""

    def __post_init__(self) -> None:
        """Raises SettingsError if the base is no DN."""
        require_dn("ldap_group_base", self.base)

    def names(self, connection: Any, found: ProvenUser) -> tuple[str, ...]:
        """The names of the groups, as their entries spell them; referrals to other directories are left alone."""
        wanted = self.filter.of(found.name, found.dn)
        entries: Sequence[_Entry] = connection.search_s(self.base, ldap.SCOPE_SUBTREE, wanted, [self.attribute])
        return tuple(name for dn, values in entries if dn is not None for name in values_of(values, self.attribute))

"""The LDAP directory that checks passwords, by the settings of a server; what it imports needs the extra `ldap`."""

from hmstats.errors import SettingsError
from hmstats.server.authentication.directory.ldap_connection import Ldap
from hmstats.server.authentication.directory.ldap_directory import LdapDirectory
from hmstats.server.authentication.directory.ldap_groups import ByMemberOf, BySearchOfGroups, Grouping
from hmstats.server.authentication.directory.ldap_names import DN, GROUP, USER, DnTemplate, FilterTemplate
from hmstats.server.authentication.directory.ldap_users import ByDn, BySearch, UserProver
from hmstats.settings import Settings


def directory_of(settings: Settings, url: str) -> LdapDirectory:
    """The directory that settings describe. Raises SettingsError if one is missing or has no meaning."""
    return LdapDirectory(
        Ldap(url, settings.ldap_ca, settings.ldap_seconds),
        _users_of(settings),
        groups=_groups_of(settings),
        cache_seconds=settings.ldap_cache_seconds,
    )


def _users_of(settings: Settings) -> UserProver:
    if (settings.ldap_user_dn is None) == (settings.ldap_user_base is None):
        found = "neither" if settings.ldap_user_dn is None else "both"
        raise SettingsError(
            f"authentication by password with ldap_url needs the setting ldap_user_dn or ldap_user_base, found {found}"
        )
    if settings.ldap_user_dn is not None:
        return ByDn(DnTemplate.read("ldap_user_dn", settings.ldap_user_dn, USER))
    return BySearch(
        settings.ldap_user_base or "",
        FilterTemplate.read("ldap_user_filter", settings.ldap_user_filter, USER),
        settings.ldap_user_attribute,
        settings.ldap_bind_dn,
        settings.ldap_bind_password_file,
    )


def _groups_of(settings: Settings) -> Grouping | None:
    if settings.ldap_group_dn is not None and settings.ldap_group_base is not None:
        raise SettingsError("groups of LDAP take ldap_group_dn, for memberOf, or ldap_group_base, found both")
    if settings.ldap_group_dn is not None:
        return ByMemberOf(DnTemplate.read("ldap_group_dn", settings.ldap_group_dn, GROUP))
    if settings.ldap_group_base is None:
        return None
    wanted = FilterTemplate.read("ldap_group_filter", settings.ldap_group_filter, DN, USER)
    return BySearchOfGroups(settings.ldap_group_base, wanted, settings.ldap_group_attribute)

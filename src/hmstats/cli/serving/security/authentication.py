"""The authentication of a server's clients, from its settings."""

from collections.abc import Callable

from hmstats.errors import SettingsError
from hmstats.extras import install_advice
from hmstats.model.access.kerberos_names import KerberosRules, service_principal
from hmstats.model.access.proxy_users import ProxyUsers
from hmstats.private_files import require_private
from hmstats.server.authentication.authentication import CERTIFICATE, Authentication, Mechanism
from hmstats.server.authentication.delegation import Delegation
from hmstats.server.authentication.passwords import PASSWORD, Passwords, Users, by_password
from hmstats.server.authentication.sasl import Protection, SaslMechanism
from hmstats.server.authentication.sasl_digest import TokensInUse, sasl_digest
from hmstats.server.authentication.sasl_plain import sasl_plain
from hmstats.server.authentication.tokens import TOKEN, by_token
from hmstats.service.access.api_tokens import ApiTokens
from hmstats.service.access.delegation_tokens import DelegationTokens
from hmstats.settings import Settings
from hmstats.store.database.store import Store

_JWT = "jwt"
_KERBEROS = "kerberos"
_HOUR_SECONDS = 3_600.0
_DAY_SECONDS = 24 * _HOUR_SECONDS


def authentication_of(settings: Settings, store: Store) -> Authentication | None:
    """Authentication as the settings want it, with the tokens of a store; None if it is off.

    Raises SettingsError if a setting is missing.
    """
    names = settings.authentication
    if not names:
        return None
    by_certificate = CERTIFICATE in names
    if by_certificate and (settings.tls == "off" or settings.tls_client_ca is None):
        raise SettingsError(
            "authentication by certificate needs the setting tls_client_ca, and tls = accept or require"
        )
    protection = Protection[settings.protection.upper()]
    if protection is not Protection.AUTHENTICATION and _KERBEROS not in names:
        raise SettingsError(f"protection = {settings.protection} needs kerberos in the setting authentication")
    if settings.proxy_users and _KERBEROS not in names:
        raise SettingsError("proxy_users needs kerberos in the setting authentication, found it without")
    mechanisms, refreshes = _mechanisms(settings, store)
    sasl = [sasl_plain(each) for each in mechanisms if each.name == PASSWORD]
    delegation = None
    if _KERBEROS in names:
        gssapi, delegation = _kerberos(settings, store, protection)
        in_use = TokensInUse(delegation.tokens)
        sasl += [gssapi, sasl_digest(in_use, protection)]
        refreshes = (*refreshes, in_use.refresh)
    rule = settings.certificate_user if by_certificate else None
    return Authentication(
        names,
        rule,
        mechanisms,
        settings.unencrypted_secrets,
        refreshes,
        sasl=tuple(sasl),
        protection=protection,
        delegation=delegation,
    )


def _mechanisms(settings: Settings, store: Store) -> tuple[tuple[Mechanism, ...], tuple[Callable[[], None], ...]]:
    """The mechanisms with secrets, and functions that look for changes of their files and keys; tokens come first."""
    mechanisms: list[Mechanism] = []
    refreshes: list[Callable[[], None]] = []
    names = settings.authentication
    if TOKEN in names:
        mechanisms.append(by_token(ApiTokens(store)))
    if _JWT in names:
        mechanism, refresh = _jwt(settings)
        mechanisms.append(mechanism)
        refreshes.append(refresh)
    if PASSWORD in names:
        if settings.ldap_url is not None:
            mechanisms.append(by_password(_ldap(settings, settings.ldap_url)))
        else:
            passwords = Passwords(_require_setting(settings.password_file, PASSWORD, "password_file or ldap_url"))
            mechanisms.append(by_password(passwords))
            refreshes.append(passwords.refresh)
    return tuple(mechanisms), tuple(refreshes)


def _ldap(settings: Settings, url: str) -> Users:
    if settings.password_file is not None:
        raise SettingsError("authentication by password takes password_file or ldap_url, found both")
    try:
        from hmstats.cli.serving.security.ldap import directory_of  # noqa: PLC0415 - in an extra
    except ImportError as error:
        raise SettingsError(f"ldap_url needs the extra ldap: {install_advice('ldap')}") from error
    return directory_of(settings, url)


def _jwt(settings: Settings) -> tuple[Mechanism, Callable[[], None]]:
    try:
        from hmstats.server.authentication.json_web_keys import JsonWebKeys  # noqa: PLC0415 - in an extra
        from hmstats.server.authentication.json_web_tokens import ExpectedClaims, by_jwt  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(f"authentication by jwt needs the extra jwt: {install_advice('jwt')}") from error
    keys = JsonWebKeys(_require_setting(settings.jwt_jwks, _JWT, "jwt_jwks"))
    expected = ExpectedClaims(
        settings.jwt_issuer, settings.jwt_audience, settings.jwt_user_claim, settings.jwt_groups_claim
    )
    return by_jwt(keys, expected), keys.refresh


def _delegation(settings: Settings, store: Store, rules: KerberosRules) -> Delegation:
    tokens = DelegationTokens(
        store,
        life_seconds=settings.delegation_token_days * _DAY_SECONDS,
        renew_seconds=settings.delegation_token_renew_hours * _HOUR_SECONDS,
    )
    return Delegation(tokens, rules, ProxyUsers(settings.proxy_users))


def _kerberos(settings: Settings, store: Store, protection: Protection) -> tuple[SaslMechanism, Delegation]:
    try:
        from hmstats.server.authentication.kerberos import Service, by_kerberos  # noqa: PLC0415 - in an extra
    except ImportError as error:
        advice = install_advice("kerberos")
        raise SettingsError(f"authentication by kerberos needs the extra kerberos: {advice}") from error
    keytab = _require_setting(settings.kerberos_keytab, _KERBEROS, "kerberos_keytab")
    require_private("kerberos_keytab", keytab)
    principal = service_principal(_require_setting(settings.kerberos_principal, _KERBEROS, "kerberos_principal"))
    rules = KerberosRules(settings.kerberos_rules, principal.rpartition("@")[2])
    delegation = _delegation(settings, store, rules)
    return by_kerberos(Service(keytab, principal), rules, protection, delegation.proxies), delegation


def _require_setting(value: str | None, mechanism: str, name: str) -> str:
    if value is None:
        raise SettingsError(f"authentication by {mechanism} needs the setting {name}")
    return value

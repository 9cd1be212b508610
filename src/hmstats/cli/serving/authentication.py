"""How clients of a server prove who they are, by its settings."""

from hmstats.errors import SettingsError
from hmstats.server.authentication.authentication import CERTIFICATE, Authentication
from hmstats.server.authentication.tokens import TOKEN, by_token
from hmstats.service.access.api_tokens import ApiTokens
from hmstats.settings import Settings
from hmstats.store.database.store import Store


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
    mechanisms = [by_token(ApiTokens(store))] if TOKEN in names else []
    rule = settings.certificate_user if by_certificate else None
    return Authentication(names, rule, tuple(mechanisms), unencrypted=settings.unencrypted_secrets)

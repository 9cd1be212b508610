"""How clients of a server prove who they are, by its settings."""

from hmstats.errors import SettingsError
from hmstats.server.authentication.authentication import CERTIFICATE, Authentication
from hmstats.settings import Settings


def authentication_of(settings: Settings) -> Authentication | None:
    """Authentication as the settings want it; None if it is off. Raises SettingsError if a setting is missing."""
    names = settings.authentication
    if not names:
        return None
    by_certificate = CERTIFICATE in names
    if by_certificate and (settings.tls == "off" or settings.tls_client_ca is None):
        raise SettingsError(
            "authentication by certificate needs the setting tls_client_ca, and tls = accept or require"
        )
    return Authentication(names, settings.certificate_user if by_certificate else None)

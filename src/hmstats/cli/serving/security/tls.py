"""TLS of a server, by its settings."""

from hmstats.errors import SettingsError
from hmstats.private_files import require_private
from hmstats.server.authentication.authentication import CERTIFICATE
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.settings import Settings


def tls_of(settings: Settings) -> Tls | None:
    """TLS as the settings want it; None if it is off.

    Raises SettingsError when a file is missing or wrong, and when others than its owner and group can read the key.
    """
    if settings.tls == "off":
        return None
    if settings.tls_certificate is None or settings.tls_key is None:
        raise SettingsError(f"tls = {settings.tls} needs the settings tls_certificate and tls_key")
    require_private("tls_key", settings.tls_key)
    others = CERTIFICATE in settings.authentication and len(settings.authentication) > 1
    if settings.tls_client_crl is not None and settings.tls_client_ca is None:
        raise SettingsError("tls_client_crl needs the setting tls_client_ca, whose certificates it revokes")
    files = settings.tls_certificate, settings.tls_key, settings.tls_client_ca, settings.tls_client_crl
    certificates = Certificates(*files, client_optional=others)
    return Tls(certificates, required=settings.tls == "require")

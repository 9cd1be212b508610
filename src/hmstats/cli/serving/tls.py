"""TLS of a server, by its settings."""

import stat
from pathlib import Path

from hmstats.errors import SettingsError
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
    _check_private(settings.tls_key)
    others = CERTIFICATE in settings.authentication and len(settings.authentication) > 1
    files = settings.tls_certificate, settings.tls_key, settings.tls_client_ca
    certificates = Certificates(*files, client_optional=others)
    return Tls(certificates, required=settings.tls == "require")


def _check_private(key: str) -> None:
    try:
        mode = Path(key).stat().st_mode
    except OSError as error:
        raise SettingsError(f"tls_key {key} cannot be read: {error.strerror}") from error
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise SettingsError(f"tls_key {key} can be read by everybody, found mode {mode & 0o777:o}; expected 600 or 640")

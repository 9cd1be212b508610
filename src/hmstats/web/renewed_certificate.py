"""The certificate of the page, which is read again when its files change: new connections get the new one."""

import ssl

import uvicorn

from hmstats.errors import SettingsError
from hmstats.program_log import ProgramLog
from hmstats.watched_files import WatchedFiles

LOOK_TICKS = 25
"""How many of Uvicorn's ticks, of 0.1 seconds, lie between two looks at the files."""

_log = ProgramLog("hmstats.web")


class RenewingServer(uvicorn.Server):
    """Puts a renewed certificate in force; one that cannot be used leaves the old one there."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._watched = WatchedFiles(
            *(str(each) for each in (config.ssl_certfile, config.ssl_keyfile) if each is not None)
        )

    async def on_tick(self, counter: int) -> bool:
        """Look at the files from time to time."""
        if self.config.ssl is not None and counter % LOOK_TICKS == 0:
            self._renew(self.config.ssl)
        return await super().on_tick(counter)

    def _renew(self, context: ssl.SSLContext) -> None:
        if not self._watched.have_changed():
            return
        certificate, key = str(self.config.ssl_certfile), self.config.ssl_keyfile
        try:
            check_pair(certificate, None if key is None else str(key))
            context.load_cert_chain(certificate, key, _refuse_password)
        except (OSError, SettingsError) as error:
            _log.warning("certificate_not_changed", file=certificate, reason=str(error))
        else:
            _log.info("certificate_changed", file=certificate)


def check_pair(certificate: str, key: str | None) -> None:
    """Raise SettingsError if a certificate cannot be used with its key, or if that has a password."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _refuse_password)
    except (OSError, ValueError) as error:
        raise SettingsError(f"web_tls_certificate {certificate} cannot be used with its key: {error}") from error


def _refuse_password() -> str:
    """Instead of OpenSSL's question at the terminal. Raises ValueError."""
    raise ValueError("the key is encrypted; expected one without a password")

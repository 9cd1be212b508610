"""The credentials of a client, from the environment or a file of HMSTATS__SECRETS_DIR.

Secrets stand on no command line and in no settings.
"""

import os
import ssl
from dataclasses import dataclass, field

from hmstats.errors import SettingsError
from hmstats.private_files import require_private
from hmstats.secret_files import secrets_in_files

TOKEN = "HMSTATS__TOKEN"
CERTIFICATE = "HMSTATS__CLIENT_CERTIFICATE"
KEY = "HMSTATS__CLIENT_KEY"
PRINCIPAL = "HMSTATS__METASTORE_PRINCIPAL"
_HOST = "_HOST"


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Credentials that a program hands to its workers, such as tasks of Spark, so that they need no ticket.

    A token of hmstats for HTTP, or a delegation token for other addresses.
    """

    token: str | None = field(default=None, repr=False)
    delegation_token: str | None = field(default=None, repr=False)


NOTHING = HandedOver()


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token for HTTP, and the PEM files of a certificate for TLS; the key may be in the certificate's file.

    Unless calls are made over HTTP, the user is proven by a delegation token, or with the metastore's `principal` in
    Kerberos by a ticket. `header` is sent as it is, as the Authorization of HTTP requests, in place of a token. `user`
    is the name that is said where nothing is proven; None: that of the process.
    """

    token: str | None = field(default=None, repr=False)
    certificate: str | None = None
    key: str | None = None
    principal: str | None = None
    header: str | None = field(default=None, repr=False)
    user: str | None = None
    delegation_token: str | None = field(default=None, repr=False)

    @property
    def authorization(self) -> str | None:
        """The Authorization of HTTP requests; None without one."""
        return self.header or (f"Bearer {self.token}" if self.token is not None else None)

    def principal_at(self, host: str) -> str | None:
        """The principal with the host's name for _HOST."""
        return self.principal and self.principal.replace(f"/{_HOST}@", f"/{host.lower()}@")

    def context(self) -> ssl.SSLContext:
        """The context of TLS connections, which checks the server's certificate and name.

        Trusted are the system's authorities, or those of the file that the variable SSL_CERT_FILE names. Raises
        SettingsError if the certificate's files cannot be used, or if everybody can read the key.
        """
        context = ssl.create_default_context()
        if self.certificate is None:
            return context
        require_private(*((CERTIFICATE, self.certificate) if self.key is None else (KEY, self.key)))
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SettingsError(f"{CERTIFICATE} {self.certificate} cannot be used with its key: {reason}") from error
        return context


def credentials(handed: HandedOver = NOTHING) -> Credentials:
    """The credentials in the environment, and what was handed over in place of those of its kind.

    A token may be in a file. Raises SettingsError if everybody can read it.
    """
    token, certificate, key, principal = (os.environ.get(name) or None for name in (TOKEN, CERTIFICATE, KEY, PRINCIPAL))
    token = handed.token or token or secrets_in_files().get("token")
    return Credentials(token, certificate, key, principal, delegation_token=handed.delegation_token)


def _no_password() -> str:
    """Instead of OpenSSL's question at the terminal. Raises ValueError."""
    raise ValueError("the key is encrypted; expected one without a password")

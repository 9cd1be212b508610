"""The server's certificate and key, read again when their files change."""

import ssl
from datetime import UTC, datetime

import structlog

from hmstats.errors import SettingsError
from hmstats.server.monitoring.metrics import CERTIFICATE_EXPIRES
from hmstats.watched_files import WatchedFiles

_WARNING_DAYS = 21
_DAY_SECONDS = 86_400.0

_log = structlog.get_logger("hmstats.server")


class Certificates:
    """What new TLS connections are made from.

    The certificate's file holds the chain in PEM form, the server's own certificate first. With `client_ca`, every
    client must show a certificate that one of its authorities has signed, or may show one if it is `client_optional`.
    With `client_crl`, the authorities' lists of revoked certificates, a revoked one is refused, and so is one whose
    authority has no list there, or one that is out of date.
    """

    def __init__(
        self,
        certificate: str,
        key: str,
        client_ca: str | None = None,
        client_crl: str | None = None,
        *,
        client_optional: bool = False,
    ) -> None:
        """Raises SettingsError when a file cannot be read, or when certificate and key do not belong together."""
        self._certificate, self._key = certificate, key
        self._client_ca, self._client_crl = client_ca, client_crl
        self._client_mode = ssl.CERT_OPTIONAL if client_optional else ssl.CERT_REQUIRED
        files = certificate, key, client_ca, client_crl
        self._watched = WatchedFiles(*(each for each in files if each is not None))
        self.context = self._load()

    def refresh(self) -> None:
        """Read the files again if they have changed; a pair that cannot be used leaves the old one in force."""
        if not self._watched.have_changed():
            return
        try:
            self.context = self._load()
            _log.info("certificate_changed", file=self._certificate, expires=self.expires.isoformat())
        except SettingsError as error:
            _log.error("certificate_not_changed", reason=str(error))

    def watch(self) -> None:
        """Warn when the certificate expires soon."""
        left_days = (self.expires - datetime.now(UTC)).total_seconds() / _DAY_SECONDS
        if left_days < _WARNING_DAYS:
            _log.warning("certificate_expires", file=self._certificate, expires=self.expires.isoformat())

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.options |= ssl.OP_NO_RENEGOTIATION
        context.num_tickets = 0  # a probe that leaves at once would break the pipe that tickets are sent to
        try:
            context.load_cert_chain(self._certificate, self._key, password=_no_password)
            expires = _expires(context, self._certificate)
        except (OSError, ValueError) as error:
            reason = f"tls_certificate {self._certificate} and tls_key {self._key} cannot be used: {_reason(error)}"
            raise SettingsError(reason) from error
        if self._client_ca is not None:
            try:
                context.load_verify_locations(self._client_ca)
            except OSError as error:
                reason = f"tls_client_ca {self._client_ca} cannot be used: {_reason(error)}"
                raise SettingsError(reason) from error
            context.verify_mode = self._client_mode
        if self._client_crl is not None:
            _refuse_revoked(context, self._client_crl)
        self.expires = expires
        CERTIFICATE_EXPIRES.set(expires.timestamp())
        return context


def _refuse_revoked(context: ssl.SSLContext, file: str) -> None:
    """Look each client's own certificate up in the lists of a PEM file. Raises SettingsError."""
    try:
        context.load_verify_locations(file)
    except OSError as error:
        raise SettingsError(f"tls_client_crl {file} cannot be used: {_reason(error)}") from error
    if not context.cert_store_stats()["crl"]:
        raise SettingsError(f"tls_client_crl {file} must have lists of revoked certificates in PEM form, found none")
    context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF


def _no_password() -> str:
    """Instead of OpenSSL's question at the terminal. Raises ValueError."""
    raise ValueError("the key is encrypted; expected one without a password")


def _expires(server: ssl.SSLContext, certificate: str) -> datetime:
    """When a certificate expires, as a client reads it in a handshake in memory. Raises OSError if it is not valid."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # trusts the server's own certificate without its authority
    client.load_verify_locations(certificate)
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for each in (ours, theirs, ours):
        try:
            each.do_handshake()
        except ssl.SSLWantReadError:
            continue
    fields = ours.getpeercert() or {}
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(fields["notAfter"])), UTC)


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error)

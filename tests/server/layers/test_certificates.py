"""The server's certificate: what is refused at the start, and what happens when its files change."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from structlog.testing import capture_logs
from tests.fixtures.identity.authorities import Files, issued
from tests.server.serving import Client, look_twice, serving

from hmstats.errors import SettingsError
from hmstats.server.connections.handshakes import Tls
from hmstats.server.layers.certificates import Certificates
from hmstats.server.monitoring.metrics import CERTIFICATE_EXPIRES


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return issued(tmp_path)


def reaches(address: tuple[str, int], files: Files) -> bool:
    try:
        with Client(address, ssl.create_default_context(cafile=files.authority)) as client:
            return client.echoes("reached")
    except ssl.SSLCertVerificationError:
        return False


def test_new_files_are_taken_by_new_connections_only(files: Files, tmp_path: Path) -> None:
    certificates = Certificates(files.certificate, files.key)
    context = ssl.create_default_context(cafile=files.authority)
    with serving(tls=Tls(certificates)) as address, Client(address, context) as old:
        assert old.echoes("before")
        new = issued(tmp_path)
        assert not reaches(address, new)
        look_twice(certificates)
        assert reaches(address, new)
        assert old.echoes("after")


def test_a_wrong_pair_leaves_the_old_one_in_force(files: Files, tmp_path: Path) -> None:
    certificates = Certificates(files.certificate, files.key)
    (tmp_path / "other").mkdir()
    other = issued(tmp_path / "other")
    with serving(tls=Tls(certificates)) as address, capture_logs() as logs:
        Path(files.key).write_bytes(Path(other.key).read_bytes())
        look_twice(certificates)
        look_twice(certificates)
        assert reaches(address, files)
    assert [each["event"] for each in logs if each["event"].startswith("certificate")] == ["certificate_not_changed"]


def test_a_missing_file_leaves_the_old_pair_in_force(files: Files) -> None:
    certificates = Certificates(files.certificate, files.key)
    Path(files.certificate).unlink()
    look_twice(certificates)
    with serving(tls=Tls(certificates)) as address:
        assert reaches(address, files)


def test_what_cannot_be_used_is_named(files: Files, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = issued(tmp_path / "other")
    for certificate, key in ((files.certificate, other.key), ("absent.pem", files.key), (files.key, files.key)):
        with pytest.raises(SettingsError, match=f"tls_certificate {certificate} and tls_key {key} cannot be used"):
            Certificates(certificate, key)
    with pytest.raises(SettingsError, match=r"tls_client_ca absent\.pem cannot be used"):
        Certificates(files.certificate, files.key, "absent.pem")


def test_an_expired_certificate_is_not_served(tmp_path: Path) -> None:
    expired = trustme.CA().issue_cert("localhost", not_after=datetime.now(UTC) - timedelta(days=1))
    pem, key = tmp_path / "c.pem", tmp_path / "c.key"
    expired.cert_chain_pems[0].write_to_path(pem)
    expired.private_key_pem.write_to_path(key)
    with pytest.raises(SettingsError, match="expired"):
        Certificates(str(pem), str(key))


@pytest.mark.parametrize(("days", "warnings"), [(10, 1), (60, 0)])
def test_expiry_is_told(tmp_path: Path, days: int, warnings: int) -> None:
    expires = datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
    made = trustme.CA().issue_cert("localhost", not_after=expires)
    pem, key = tmp_path / "c.pem", tmp_path / "c.key"
    made.cert_chain_pems[0].write_to_path(pem)
    made.private_key_pem.write_to_path(key)
    certificates = Certificates(str(pem), str(key))
    with capture_logs() as logs:
        certificates.watch()
    assert [each["event"] for each in logs] == ["certificate_expires"] * warnings
    (sample,) = (each for metric in CERTIFICATE_EXPIRES.collect() for each in metric.samples)
    assert sample.value == expires.timestamp()


def revoked(authority: trustme.CA, file: Path, *certificates: Files, days: float = 1.0) -> str:
    """A list of revoked certificates that an authority has signed."""
    signer = x509.load_pem_x509_certificate(authority.cert_pem.bytes())
    now = datetime.now(UTC)
    made = x509.CertificateRevocationListBuilder().issuer_name(signer.subject)
    made = made.last_update(now - timedelta(days=2)).next_update(now + timedelta(days=days))
    for each in certificates:
        number = x509.load_pem_x509_certificate(Path(each.certificate).read_bytes()).serial_number
        one = x509.RevokedCertificateBuilder().serial_number(number).revocation_date(now - timedelta(days=1))
        made = made.add_revoked_certificate(one.build())
    key = serialization.load_pem_private_key(authority.private_key_pem.bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    file.write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return str(file)


def is_served(address: tuple[str, int], files: Files, own: Files | None) -> bool:
    context = ssl.create_default_context(cafile=files.authority)
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    try:
        with Client(address, context) as client:
            return client.echoes("served")
    except (OSError, EOFError):
        return False


def test_a_revoked_certificate_is_refused_from_the_moment_that_the_list_names_it(files: Files, tmp_path: Path) -> None:
    authority, crl = trustme.CA(), tmp_path / "revoked.pem"
    first, second = (issued(tmp_path, "client", authority=authority, name=name) for name in ("first", "second"))
    listed = revoked(authority, crl, first)
    certificates = Certificates(files.certificate, files.key, first.authority, listed)
    with serving(tls=Tls(certificates, required=True)) as address, capture_logs() as logs:
        assert [is_served(address, files, own) for own in (first, second, None)] == [False, True, False]
        revoked(authority, crl, second)
        look_twice(certificates)
        assert [is_served(address, files, own) for own in (first, second)] == [True, False]
        crl.write_text("no list")
        look_twice(certificates)
        assert [is_served(address, files, own) for own in (first, second)] == [True, False]
    assert "certificate_not_changed" in [each["event"] for each in logs]
    assert [each for each in logs if "revoked" in str(each.get("reason"))]


def test_a_list_out_of_date_or_of_another_authority_proves_no_certificate(files: Files, tmp_path: Path) -> None:
    authority, other, crl = trustme.CA(), trustme.CA(), tmp_path / "revoked.pem"
    own = issued(tmp_path, "client", authority=authority, name="own")
    for listed in (revoked(authority, crl, days=-1), revoked(other, crl)):
        certificates = Certificates(files.certificate, files.key, own.authority, listed)
        with serving(tls=Tls(certificates, required=True)) as address:
            assert not is_served(address, files, own)


def test_a_file_without_a_list_is_named(files: Files, tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"tls_client_crl .* must have lists of revoked certificates .*, found none"
    ):
        Certificates(files.certificate, files.key, files.authority, files.authority)
    with pytest.raises(SettingsError, match=r"tls_client_crl .*absent cannot be used: No such file"):
        Certificates(files.certificate, files.key, files.authority, str(tmp_path / "absent"))

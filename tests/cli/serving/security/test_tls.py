"""TLS of a server by its settings."""

from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import Files, issued

from hmstats.cli.serving.security.tls import tls_of
from hmstats.errors import SettingsError
from hmstats.settings import Settings, load


def settings(files: Files, tls: str = "require") -> Settings:
    return load({"tls": tls, "tls_certificate": files.certificate, "tls_key": files.key})


@pytest.mark.parametrize(("mode", "required"), [("accept", False), ("require", True)])
def test_a_mode_with_its_files(tmp_path: Path, mode: str, required: bool) -> None:
    made = tls_of(settings(issued(tmp_path), mode))
    assert made is not None
    assert made.required is required


def test_off_reads_no_file() -> None:
    assert tls_of(load({"tls": "off", "tls_certificate": "absent", "tls_key": "absent"})) is None


def test_a_mode_without_files_is_named() -> None:
    with pytest.raises(SettingsError, match="tls = require needs the settings tls_certificate and tls_key"):
        tls_of(load({"tls": "require"}))


def test_a_key_that_everybody_reads_is_refused(tmp_path: Path) -> None:
    files = issued(tmp_path)
    Path(files.key).chmod(0o644)
    with pytest.raises(SettingsError, match=r"tls_key .* can be read by everybody, found mode 644"):
        tls_of(settings(files))


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    files = issued(tmp_path)
    Path(files.key).unlink()
    with pytest.raises(SettingsError, match=r"tls_key .* cannot be read"):
        tls_of(settings(files))


def test_a_list_of_revoked_certificates_without_their_authorities_is_named(tmp_path: Path) -> None:
    files = issued(tmp_path)
    given = {"tls": "require", "tls_certificate": files.certificate, "tls_key": files.key, "tls_client_crl": "x.pem"}
    with pytest.raises(SettingsError, match="tls_client_crl needs the setting tls_client_ca"):
        tls_of(load(given))

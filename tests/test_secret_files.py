"""Secrets in files: which are read, by settings and by the client, and which are refused."""

from pathlib import Path

import pytest

from hmstats.client.connection.credentials import credentials
from hmstats.errors import SettingsError
from hmstats.settings import load, origin

URL = "postgresql://u:p@h/d"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of secrets."""
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE", "TOKEN", "CONFIG"):
        monkeypatch.delenv(f"HMSTATS__{name}", raising=False)
    monkeypatch.setenv("HMSTATS__SECRETS_DIR", str(tmp_path / "secrets"))
    (tmp_path / "secrets").mkdir()
    return tmp_path / "secrets"


def write(folder: Path, name: str, text: str = "x", mode: int = 0o600) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(mode)


def test_a_secret_in_a_file_wins_over_the_settings_file_and_not_over_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("hmstats.toml").write_text('database = "sqlite:///other"\nport = 1111\n')
    assert load().database == "sqlite:///other"
    write(folder, "HMSTATS__DATABASE", f"{URL}\n")
    assert (load().database, load().port) == (URL, 1111)
    assert origin("database") == str(folder / "HMSTATS__DATABASE")
    assert origin("port") == "hmstats.toml"
    monkeypatch.setenv("HMSTATS__DATABASE", "sqlite:///mine")
    assert (load().database, origin("database")) == ("sqlite:///mine", "HMSTATS__DATABASE")


def test_the_client_takes_its_token_from_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert credentials().token is None
    write(folder, "HMSTATS__TOKEN", "hmst_x\n")
    assert credentials().token == "hmst_x"
    monkeypatch.setenv("HMSTATS__TOKEN", "hmst_y")
    assert credentials().token == "hmst_y"


def test_links_of_kubernetes_are_followed_and_other_files_left_alone(folder: Path) -> None:
    (folder / "..data").mkdir()
    write(folder / "..data", "HMSTATS__DATABASE", URL, 0o440)
    (folder / "HMSTATS__DATABASE").symlink_to("..data/HMSTATS__DATABASE")
    write(folder, "other", mode=0o644)
    assert load().database == URL


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o602])
def test_a_file_that_everybody_can_use_is_refused(folder: Path, mode: int) -> None:
    write(folder, "HMSTATS__TOKEN", mode=mode)
    for read in (load, credentials):
        with pytest.raises(
            SettingsError, match=rf"HMSTATS__SECRETS_DIR .*TOKEN can be read by everybody, .* {mode:o};"
        ):
            read()


def test_other_names_folders_and_bytes_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "HMSTATS__TOKEN").write_bytes(b"\xff")
    (folder / "HMSTATS__TOKEN").chmod(0o600)
    with pytest.raises(SettingsError, match=r"TOKEN cannot be read: UnicodeDecodeError"):
        load()
    write(folder, "HMSTATS__PORT")
    with pytest.raises(
        SettingsError, match=r"may have the files HMSTATS__DATABASE, HMSTATS__TOKEN, found HMSTATS__PORT"
    ):
        load()
    monkeypatch.setenv("HMSTATS__SECRETS_DIR", str(folder / "absent"))
    with pytest.raises(SettingsError, match=r"HMSTATS__SECRETS_DIR .*absent cannot be read: No such file"):
        load()

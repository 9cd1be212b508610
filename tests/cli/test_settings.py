"""Settings: where a value comes from, and what is refused."""

from pathlib import Path

import pytest

from hmstats.errors import SettingsError
from hmstats.settings import Settings, load, origin


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the machine reach a test."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"HMSTATS__{name.upper()}", raising=False)
    monkeypatch.delenv("HMSTATS__CONFIG", raising=False)


def test_nothing_must_be_set() -> None:
    settings = load()
    assert settings.port == 9083
    assert settings.database == "sqlite:///hmstats.sqlite"
    assert origin("port") == "default"


def test_a_flag_wins_over_the_environment_and_that_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("hmstats.toml").write_text("port = 1111\nworkers = 3\n")
    assert (load().port, origin("port")) == (1111, "hmstats.toml")
    monkeypatch.setenv("HMSTATS__PORT", "2222")
    assert (load().port, origin("port")) == (2222, "HMSTATS__PORT")
    assert (load({"port": 3333}).port, origin("port", {"port": 3333})) == (3333, "flag")
    assert load({"port": None}).port == 2222
    assert load().workers == 3


def test_a_file_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    named = tmp_path / "other.toml"
    named.write_text('log_level = "debug"\n')
    monkeypatch.setenv("HMSTATS__CONFIG", str(named))
    assert (load().log_level, origin("log_level")) == ("debug", str(named))


def test_a_named_file_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__CONFIG", "nowhere.toml")
    with pytest.raises(SettingsError, match=r"HMSTATS__CONFIG names nowhere\.toml, which is not there"):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [("port", "x"), ("port", "70000"), ("workers", "0"), ("log_level", "loud"), ("call_seconds", "-1")],
)
def test_a_value_without_meaning_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"HMSTATS__{name.upper()}", value)
    with pytest.raises(SettingsError, match=f"setting {name}: .*found '{value}'"):
        load()


def test_an_unknown_line_of_the_file_is_refused() -> None:
    Path("hmstats.toml").write_text("prot = 1\n")
    with pytest.raises(SettingsError, match="setting prot"):
        load()


def test_a_broken_file_is_refused() -> None:
    Path("hmstats.toml").write_text("port = \n")
    with pytest.raises(SettingsError, match=r"hmstats\.toml cannot be read"):
        load()


def test_every_setting_has_a_sentence_and_a_default() -> None:
    for name, field in Settings.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
        assert not field.is_required(), name

"""Settings: where a value comes from, and what is refused."""

import json
import re
import traceback
from pathlib import Path

import pytest

from hmstats.cli.actions import config
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


def test_a_named_file_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__CONFIG", "nowhere.toml")
    with pytest.raises(SettingsError, match=r"HMSTATS__CONFIG names nowhere\.toml, which does not exist"):
        load()
    monkeypatch.setenv("HMSTATS__CONFIG", str(tmp_path))
    with pytest.raises(SettingsError, match=f"HMSTATS__CONFIG names {tmp_path}, which is no file"):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [("port", "x"), ("port", "70000"), ("workers", "0"), ("log_level", "loud"), ("call_seconds", "-1")],
)
def test_a_value_without_meaning_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"HMSTATS__{name.upper()}", value)
    with pytest.raises(SettingsError, match=f"setting {name}: .*found '{value}'"):
        load()


_COUNTED_TIMES = [name for name in Settings.model_fields if name.endswith(("_seconds", "_hours", "_days"))]


@pytest.mark.parametrize("value", ["inf", "1e10"])
@pytest.mark.parametrize("name", _COUNTED_TIMES)
def test_a_time_longer_than_clocks_and_databases_count_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"HMSTATS__{name.upper()}", value)
    with pytest.raises(SettingsError, match=f"setting {name}: .*found '{value}'"):
        load()


def test_three_weeks_are_no_too_long_time() -> None:
    assert load({"statement_seconds": 21 * 86_400}).statement_seconds == 21 * 86_400


_PLACE = "postgresql://u:hunter2@h/x"


@pytest.mark.parametrize(
    ("upstreams", "sentence"),
    [
        ([{"name": "a", "database": _PLACE}], "setting upstreams.0.uris: Field required, found a value with a URL"),
        ([{"name": "a", "uris": "thrift://x:1", "database": [_PLACE]}], "setting upstreams.0.database: "),
        (
            [{"name": "a", "uris": "thrift://x:1", "database": _PLACE, "databases": ["b"]}],
            "the default one, found none",
        ),
        ({"name": "a", "uris": "thrift://x:1", "database": _PLACE}, "setting upstreams: Input should be a valid list"),
        ([{"name": "A B", "uris": "thrift://x:1", "database": _PLACE}], "setting upstreams.0.name: .*found 'A B'"),
    ],
)
def test_no_password_of_a_database_is_in_an_error(
    monkeypatch: pytest.MonkeyPatch, upstreams: object, sentence: str
) -> None:
    monkeypatch.setenv("HMSTATS__UPSTREAMS", json.dumps(upstreams))
    with pytest.raises(SettingsError, match=sentence) as refused:
        load()
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


def test_no_password_of_a_malformed_database_is_in_an_error(tmp_path: Path) -> None:
    file = tmp_path / "hmstats.toml"
    file.write_text(f'[database]\nurl = "{_PLACE}"\n')
    file.chmod(0o600)
    with pytest.raises(
        SettingsError, match="setting database: Input should be a valid string, found a value"
    ) as refused:
        load()
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("prot", "is it port?"), ("warehouse_dir", "is it warehouse?"), ("zzz", "`hmstats config show` prints all")],
)
def test_an_unknown_setting_is_refused_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    Path("hmstats.toml").write_text(f"{name} = 1\n")
    with pytest.raises(SettingsError, match=f"^hmstats.toml: there is no setting {name}[,;] {re.escape(hint)}$"):
        load()
    Path("hmstats.toml").unlink()
    monkeypatch.setenv(f"HMSTATS__{name.upper()}", "1")
    with pytest.raises(SettingsError, match=f"^variable HMSTATS__{name.upper()}: there is no setting {name}[,;] "):
        load({"port": 1})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("port = true", "setting port: Input should be a number, found True"),
        ("workers = false", "setting workers: Input should be a number, found False"),
        ("receive_seconds = true", "setting receive_seconds: Input should be a number, found True"),
        ('authentication = "token"', "setting authentication: Input should be a valid list, found 'token'"),
        ("PORT = 1", "hmstats.toml: there is no setting PORT, is it port?"),
        ("log_level = 1", "setting log_level: Input should be 'debug', 'info', 'warning' or 'error', found 1"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_expected(line: str, sentence: str) -> None:
    Path("hmstats.toml").write_text(f"{line}\n")
    with pytest.raises(SettingsError, match=f"^{re.escape(sentence)}$"):
        load()


def test_variables_that_are_no_settings_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes sets HMSTATS_PORT for a Service that is named hmstats."""
    monkeypatch.setenv("HMSTATS_PORT", "tcp://10.0.0.1:9083")
    monkeypatch.setenv("hmstats__workers", "3")
    assert (load().port, load().workers) == (9083, 3)


def test_an_empty_variable_of_an_unknown_setting_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__PROT", "")
    with pytest.raises(SettingsError, match="is it port"):
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


def test_config_show_has_no_password(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for url, shown in (
        ("postgresql://ada:hush@db/m", "postgresql://ada:***@db/m"),
        ("postgresql://db/m?user=ada&password=hush", "postgresql://db/m?password=***&user=ada"),
        ("mysql://ada:hush@db/m", "*** (no URL of a database)"),
        ("ada:hush@db", "*** (no URL of a database)"),
    ):
        monkeypatch.setenv("HMSTATS__DATABASE", url)
        config.show_settings(as_json=False)
        out = capsys.readouterr().out
        assert shown in out
        assert "hush" not in out


def test_a_list_that_is_no_json_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__AUTHENTICATION", "token")
    with pytest.raises(SettingsError, match=r"^setting authentication must be a JSON list$"):
        load()


def test_a_file_with_a_password_that_everybody_reads_is_refused() -> None:
    file = Path("hmstats.toml")
    file.write_text('database = "postgresql://u:p@h/d"\n')
    file.chmod(0o644)
    with pytest.raises(SettingsError, match=r"settings file hmstats\.toml can be read by everybody, found mode 644"):
        load()
    file.chmod(0o640)
    assert load().database == "postgresql://u:p@h/d"

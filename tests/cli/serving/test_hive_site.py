from pathlib import Path
from typing import Any

import pytest

from hmstats.cli.serving.hive_site import logs_in_transactions, settings_of
from hmstats.cli.serving.serve_settings import hive_logs, load_served
from hmstats.errors import SettingsError

URL = "javax.jdo.option.ConnectionURL"
LISTENER = "org.apache.hive.hcatalog.listener.DbNotificationListener"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no settings are."""
    monkeypatch.chdir(tmp_path)


def site(folder: Path, **properties: str) -> str:
    """A settings file with these properties, whose dots are written __."""
    named = {name.replace("__", "."): value for name, value in properties.items()}
    rows = "".join(f"<property><name>{k}</name><value> {v} </value></property>" for k, v in named.items())
    path = folder / "hive-site.xml"
    path.write_text(f"<configuration>{rows}</configuration>")
    path.chmod(0o600)
    return str(path)


def whole(folder: Path, **more: str) -> str:
    """The file of a Hive on PostgreSQL."""
    return site(
        folder,
        javax__jdo__option__ConnectionURL="jdbc:postgresql://db:5433/metastore",
        javax__jdo__option__ConnectionUserName="hive",
        javax__jdo__option__ConnectionPassword="secret",
        **more,
    )


def test_what_hive_says_is_taken(tmp_path: Path) -> None:
    found = settings_of(whole(tmp_path, hive__metastore__warehouse__dir="s3://bucket/warehouse"))
    assert found == {
        "database": "postgresql://hive:secret@db:5433/metastore",
        "warehouse": "s3://bucket/warehouse",
        "notifications": False,
    }


@pytest.mark.parametrize("prefix", ["metastore", "hive__metastore"])
@pytest.mark.parametrize("kind", ["transactional__event__listeners", "event__listeners"])
def test_events_are_written_where_hive_writes_them(tmp_path: Path, prefix: str, kind: str) -> None:
    found: dict[str, Any] = settings_of(whole(tmp_path, **{f"{prefix}__{kind}": f"com.example.Other,{LISTENER}"}))
    assert found["notifications"] is True


@pytest.mark.parametrize("prefix", ["metastore", "hive__metastore"])
@pytest.mark.parametrize(("kind", "logs"), [("transactional__event__listeners", True), ("event__listeners", False)])
def test_only_a_listener_within_transactions_logs_in_them(tmp_path: Path, prefix: str, kind: str, logs: bool) -> None:
    path = whole(tmp_path, **{f"{prefix}__{kind}": f"com.example.Other, {LISTENER}"})
    assert logs_in_transactions(path) is logs
    assert hive_logs(load_served({"hive_site": path})) is logs
    assert not hive_logs(load_served({"hive_site": path, "notifications": False}))


def test_another_listener_logs_nothing(tmp_path: Path) -> None:
    assert not logs_in_transactions(whole(tmp_path, hive__metastore__transactional__event__listeners=f"x.{LISTENER}"))
    assert not logs_in_transactions(whole(tmp_path))


def test_without_hives_file_nobody_says_that_hive_logs() -> None:
    assert not hive_logs(load_served({"database": "postgresql://db/metastore"}))


def test_the_newer_name_counts(tmp_path: Path) -> None:
    both = whole(tmp_path, hive__metastore__warehouse__dir="/old", metastore__warehouse__dir="/new")
    assert settings_of(both)["warehouse"] == "/new"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<configuration", "is no XML"),
        ("<project/>", "must have a root <configuration>, found <project>"),
        ("<configuration/>", f"must have {URL}, found no such property"),
        (
            f"<configuration><property><name>{URL}</name><value>${{env.URL}}</value></property></configuration>",
            r"must be written out, found a variable: \$\{env\.URL\}",
        ),
    ],
)
def test_a_file_that_says_nothing_of_use_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "hive-site.xml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=said):
        settings_of(str(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file or directory"):
        settings_of(str(tmp_path / "absent.xml"))


def test_what_is_set_counts_before_what_hive_says(tmp_path: Path) -> None:
    settings = load_served({"hive_site": whole(tmp_path, metastore__warehouse__dir="/theirs"), "warehouse": "/mine"})
    assert settings.warehouse == "/mine"
    assert settings.database == "postgresql://hive:secret@db:5433/metastore"


def test_our_own_schema_is_looked_in_first(tmp_path: Path) -> None:
    settings = load_served({"hive_site": whole(tmp_path), "own_schema": "hmstats"})
    assert settings.database == "postgresql://hive:secret@db:5433/metastore?currentSchema=hmstats%2Cpublic"


def test_a_file_with_a_password_that_everybody_reads_is_refused(tmp_path: Path) -> None:
    path = Path(whole(tmp_path))
    path.chmod(0o644)
    with pytest.raises(SettingsError, match=r"hive_site .* can be read by everybody, found mode 644"):
        settings_of(str(path))
    path.write_text(path.read_text().replace("secret", ""))
    assert settings_of(str(path))["database"].startswith("postgresql")

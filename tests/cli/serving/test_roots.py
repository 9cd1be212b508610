"""Where a server changes directories is decided by who reaches it, unless it is said."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hmstats.cli.serving.roots import warehouse_of, warn_of_roots
from hmstats.errors import SettingsError
from hmstats.server.sockets.port import is_loopback
from hmstats.settings import load


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("metastore.example", False),
        ("", False),
    ],
)
def test_only_loopback_is_changed_everywhere(host: str, loopback: bool, tmp_path: Path) -> None:
    assert is_loopback(host) is loopback
    settings = load({"host": host, "warehouse": str(tmp_path / "warehouse")})
    assert warehouse_of(settings).may_change(f"file:{tmp_path}/anything") is loopback
    assert warehouse_of(settings).may_change(f"file:{tmp_path}/warehouse/t")
    with capture_logs() as lines:
        warn_of_roots(settings)
    assert [line["log_level"] for line in lines] == ([] if loopback else ["warning"])
    assert all("warehouse_roots" in line["event"] for line in lines)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_named_roots_count_wherever_it_listens(host: str) -> None:
    settings = load({"host": host, "warehouse_roots": ("s3a://lake/a", "/data")})
    found = warehouse_of(settings)
    assert [found.may_change(each) for each in ("s3://lake/a/t", "file:///data/t", "/elsewhere/t")] == [
        True,
        True,
        False,
    ]
    with capture_logs() as lines:
        warn_of_roots(settings)
    assert lines == []


def test_a_server_that_only_reads_says_nothing_of_roots() -> None:
    with capture_logs() as lines:
        warn_of_roots(load({"host": "0.0.0.0", "read_only": True}))
    assert lines == []


def test_roots_come_from_the_environment_and_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__WAREHOUSE_ROOTS", "s3://lake/a, hdfs://node:8020/user")
    assert load().warehouse_roots == ("s3://lake/a", "hdfs://node:8020/user")
    monkeypatch.setenv("HMSTATS__WAREHOUSE_ROOTS", "*")
    assert warehouse_of(load({"host": "0.0.0.0"})).may_change("s3://any/where")
    monkeypatch.delenv("HMSTATS__WAREHOUSE_ROOTS")
    (tmp_path / "hmstats.toml").write_text('warehouse_roots = ["/a,b", "/c"]')
    monkeypatch.setenv("HMSTATS__CONFIG", str(tmp_path / "hmstats.toml"))
    assert load().warehouse_roots == ("/a,b", "/c")
    (tmp_path / "hmstats.toml").write_text("warehouse_roots = 3")
    with pytest.raises(SettingsError, match="warehouse_roots"):
        load()

"""The page beside /metrics and /health on a server's HTTP port, as `hmstats web` is on its own."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from tests.cli.serving.test_secured import made_token
from tests.fixtures.servers import serving
from tests.server.access.guarded import done, statistics, table
from tests.server.serving import Client

from hmstats.cli.serving.page import check_mounted
from hmstats.errors import SettingsError
from hmstats.settings import load
from hmstats.wire.idl import hive_metastore as api

MOUNTED = {"http_port": 0, "http_page": "true", "workers": 1}
RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.d.t"]
allow = ["list", "read", "read_statistics", "lock"]
"""


def logged(folder: Path, event: str) -> list[dict[str, Any]]:
    lines = (folder / "server.log").read_text().splitlines()
    return [found for line in lines if line.startswith("{") and (found := json.loads(line))["event"] == event]


def http_port(folder: Path) -> int:
    return int(logged(folder, "health_served")[-1]["port"])


def get(port: int, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def fill(port: int) -> None:
    with Client(("127.0.0.1", port)) as client:
        done(client.ask("create_database", database=api.Database(name="d", description="", parameters={})))
        for name in ("t", "u"):
            done(client.ask("create_table", tbl=table("d", name)))
            done(client.ask("update_table_column_statistics", stats_obj=statistics("d", name)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mounted")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    """The HTTP port of a server with the page."""
    with serving(folder, settings=MOUNTED) as served:
        fill(served)
        yield http_port(folder)


def test_page_metrics_and_health_are_on_one_port(port: int) -> None:
    assert get(port, "/health/ready") == (200, "1 workers are ready\n")
    assert "hmstats_workers 1.0" in get(port, "/metrics")[1].splitlines()
    assert "<title>" in get(port, "/tables")[1]
    assert [each["table"] for each in json.loads(get(port, "/api/v1/tables")[1])["tables"]] == ["d.t", "d.u"]
    assert 'hmstats_table_health{database="d",table="t"}' in get(port, "/metrics/tables")[1]
    assert get(port, "/nothing")[0] == 404


def test_all_of_it_is_answered_on_a_connection_that_was_opened_to_the_page(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for path, said in (("/tables", b"d.t"), ("/health/ready", b"1 workers"), ("/metrics", b"hmstats_workers 1.0")):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert (answer.status, said in answer.read()) == (200, True), path
    connection.close()


@pytest.mark.slow
def test_a_request_that_comes_byte_by_byte_finds_its_way(port: int) -> None:
    for path, said in (("/health/live", b"alive"), ("/tables", b"d.t"), ("/metricsandmore", b"404")):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as slow:
            for each in f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode():
                slow.sendall(bytes([each]))
                time.sleep(0.005)
            answer = b"".join(iter(lambda: slow.recv(65536), b""))
        assert said in answer, path


@pytest.mark.slow
def test_the_page_changes_nothing_without_the_setting(port: int) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/tables/d.t/lock", b"{}", {"Content-Type": "application/json"}, method="PUT"
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=60)
    with refused.value as answer:
        assert (answer.code, "web_writes" in answer.read().decode()) == (403, True)


@pytest.mark.slow
def test_a_page_that_is_killed_comes_back_and_no_worker_goes(port: int, folder: Path) -> None:
    for times in range(2):
        before = logged(folder, "page_started")[-1]["pid"]
        os.kill(before, signal.SIGKILL)
        found, until = (0, ""), time.monotonic() + 60
        while found[0] != 200 and time.monotonic() < until:
            with contextlib.suppress(ConnectionError):  # of a client that the page took with it
                found = get(port, "/tables")
            assert get(port, "/health/ready")[0] == 200
        assert (found[0], "d.t" in found[1]) == (200, True), times
        assert logged(folder, "page_started")[-1]["pid"] != before
    assert "hmstats_worker_deaths 0.0" in get(port, "/metrics")[1].splitlines()
    assert [each["status"] for each in logged(folder, "page_ended")] == [-signal.SIGKILL] * 2


@pytest.mark.slow
def test_a_page_that_stands_still_holds_up_no_probe(port: int, folder: Path) -> None:
    page = logged(folder, "page_started")[-1]["pid"]
    os.kill(page, signal.SIGSTOP)
    waiting = list[socket.socket]()
    try:
        for _ in range(100):
            waiting.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            waiting[-1].sendall(b"GET /tables HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert get(port, "/health/ready") == (200, "1 workers are ready\n")
        assert "hmstats_workers 1.0" in get(port, "/metrics")[1]
    finally:
        os.kill(page, signal.SIGCONT)
    for each in waiting:
        assert each.recv(12) == b"HTTP/1.1 200"
        each.close()


@pytest.mark.slow
def test_a_reload_starts_the_page_anew_and_the_end_ends_it(tmp_path: Path) -> None:
    with serving(tmp_path, settings=MOUNTED):
        page = http_port(tmp_path)
        assert get(page, "/tables")[0] == 200
        (first,) = logged(tmp_path, "page_started")
        parent = int(re.findall(r"PPid:\s+(\d+)", Path(f"/proc/{first['pid']}/status").read_text())[0])
        os.kill(parent, signal.SIGHUP)
        until = time.monotonic() + 60
        while len(logged(tmp_path, "page_started")) < 2 and time.monotonic() < until:
            time.sleep(0.05)
            assert get(page, "/tables")[0] == 200
        assert get(page, "/tables")[0] == 200
    for each in logged(tmp_path, "page_started"):
        assert not Path(f"/proc/{each['pid']}").exists() or is_zombie(each["pid"])
    assert not logged(tmp_path, "page_ended")


def is_zombie(pid: int) -> bool:
    return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.slow
def test_the_page_asks_as_who_opens_it(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        fill(served)
    ada = made_token(f"sqlite:///{tmp_path}/hmstats.sqlite", "hers", "ada")
    (tmp_path / "rules.toml").write_text(RULES)
    settings = MOUNTED | {"authentication": '["token"]', "rules": tmp_path / "rules.toml", "web_writes": "true"}
    with serving(tmp_path, settings=settings, environment={"HMSTATS__TOKEN": ada}):
        page = http_port(tmp_path)
        assert get(page, "/api/v1/tables")[0] == 401  # the token of the process is not used
        status, found = get(page, "/api/v1/tables", Authorization=f"Bearer {ada}")
        assert (status, [each["table"] for each in json.loads(found)["tables"]]) == (200, ["d.t"])
        assert get(page, "/health/ready")[0] == 200
        locks = f"http://127.0.0.1:{page}/api/v1/tables/d.t/lock"
        proof = {"Authorization": f"Bearer {ada}", "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(locks, headers=proof), timeout=60) as answer:
            version = {"If-Match": answer.headers["ETag"]}
        change = urllib.request.Request(locks, b"{}", proof | version, method="PUT")
        with urllib.request.urlopen(change, timeout=60) as answer:
            assert [each["locked_by"] for each in json.load(answer)["locks"]] == ["ada"]


@pytest.mark.slow
def test_over_tls_as_the_page_alone(tmp_path: Path) -> None:
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    (tmp_path / "key.pem").chmod(0o600)
    for place, blob in enumerate(made.cert_chain_pems):
        blob.write_to_path(tmp_path / "cert.pem", append=place > 0)
    settings = MOUNTED | {"web_tls_certificate": tmp_path / "cert.pem", "web_tls_key": tmp_path / "key.pem"}
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with serving(tmp_path, settings=settings):
        page = http_port(tmp_path)
        for path, said in (("/tables", "<title>"), ("/health/ready", "1 workers"), ("/metrics", "hmstats_workers 1")):
            with urllib.request.urlopen(f"https://127.0.0.1:{page}{path}", timeout=60, context=context) as answer:
                assert said in answer.read().decode()
        assert get(page, "/health/ready") == (200, "1 workers are ready\n")
        status, said = get(page, "/tables")
        assert (status, "the page over https" in said) == (404, True)
        with socket.create_connection(("127.0.0.1", page), timeout=60) as broken:
            broken.sendall(b"\x16\x03\x01 no handshake at all")
            while broken.recv(4096):
                pass
        with urllib.request.urlopen(f"https://127.0.0.1:{page}/tables", timeout=60, context=context) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"http_page": True}, "http_page needs the setting http_port"),
        (
            {"http_page": True, "http_port": 0, "tls": "require"},
            "with tls = require the page needs .* https://NAME:PORT",
        ),
        ({"http_page": True, "http_port": 0, "web_tls_certificate": "nowhere.pem"}, "nowhere.pem cannot be read"),
        (
            {"http_page": True, "http_port": 0, "web_tls_key": "key.pem"},
            "web_tls_key needs the setting web_tls_certificate, without which the page is reached by plain HTTP",
        ),
    ],
)
def test_settings_with_which_it_cannot_be_mounted(flags: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        check_mounted(load(flags))


@pytest.mark.parametrize("alone", [True, False], ids=["in the certificate's file", "in its own file"])
def test_a_key_that_everybody_can_read_is_refused(tmp_path: Path, alone: bool) -> None:
    made = trustme.CA().issue_cert("127.0.0.1")
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    both = tmp_path / "both.pem"
    both.write_bytes((tmp_path / "key.pem").read_bytes() + (tmp_path / "cert.pem").read_bytes())
    flags: dict[str, Any] = {"web_tls_certificate": both}
    if not alone:
        flags = {"web_tls_certificate": tmp_path / "cert.pem", "web_tls_key": tmp_path / "key.pem"}
    setting, file = list(flags.items())[-1]
    settings = {"http_page": True, "http_port": 0} | {name: str(value) for name, value in flags.items()}
    file.chmod(0o644)
    with pytest.raises(SettingsError, match=f"{setting} {file} can be read by everybody, found mode 644"):
        check_mounted(load(settings))
    file.chmod(0o640)
    check_mounted(load(settings))


def test_a_part_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmstats.cli.serving.page._NEEDED", ("starlette", "not_there_at_all"))
    with pytest.raises(SettingsError, match=r"the page needs not_there_at_all: pip install '.\[web\]'"):
        check_mounted(load({"http_page": True, "http_port": 0}))


def test_a_server_without_the_page_answers_nothing_else(tmp_path: Path) -> None:
    with serving(tmp_path, settings={"http_port": 0, "workers": 1}):
        assert get(http_port(tmp_path), "/tables") == (404, "there are /health/live, /health/ready and /metrics\n")
        assert not logged(tmp_path, "page_started")


@pytest.mark.slow
def test_the_servers_own_processes_load_nothing_of_the_page() -> None:
    program = (
        "import sys, hmstats.cli.serving.parent, hmstats.cli.serving.preparation, hmstats.cli.serving.worker; "
        "print([name for name in ('starlette', 'uvicorn', 'jinja2', 'hmstats.web') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

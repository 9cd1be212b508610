"""`hmstats web`: a process of its own that says where it listens, answers, and ends at a signal."""

import http.client
import os
import signal
import ssl
import subprocess
import urllib.request
from pathlib import Path

import pytest
from tests.fixtures.identity.authorities import issued
from tests.fixtures.ports import free_port
from tests.fixtures.servers import HMSTATS
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.cli.serving import page


@pytest.mark.slow
def test_it_answers_until_a_signal(tmp_path: Path) -> None:
    """The metastore may be away when the page starts."""
    command = [HMSTATS, "web", "--port", "0", "--metastore", f"thrift://127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        line = page.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:")
        with urllib.request.urlopen(f"{line.split()[-1]}/api/v1/openapi.json", timeout=60) as answer:
            assert answer.status == 200
        page.send_signal(signal.SIGTERM)
        _, said = page.communicate(timeout=60)
    assert page.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (["--metastore", "nowhere"], {}, "a metastore's address must be thrift://HOST:PORT"),
        ([], {"HMSTATS__WEB_PORT": "x"}, "web_port"),
    ],
)
def test_settings_without_a_meaning(
    arguments: list[str], environment: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [HMSTATS, "web", "--port", "0", *arguments] if arguments else [HMSTATS, "web"],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_part_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "_NEEDED", ("no_such_module_anywhere",))
    done = CliRunner().invoke(app, ["web"])
    assert str(done.exception) == (
        "the page needs no_such_module_anywhere: pip install '.[web]' in the folder of hmstats"
    )


@pytest.mark.slow
def test_with_a_certificate_it_speaks_tls_alone(tmp_path: Path) -> None:
    files = issued(tmp_path)
    environment = os.environ | {"HMSTATS__WEB_TLS_CERTIFICATE": files.certificate, "HMSTATS__WEB_TLS_KEY": files.key}
    command = [HMSTATS, "web", "--port", "0", "--metastore", f"thrift://127.0.0.1:{free_port()}"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment) as page:
        assert page.stdout is not None
        address = page.stdout.readline().split()[-1]
        assert address.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=files.authority)
        with urllib.request.urlopen(f"{address}/api/v1/openapi.json", timeout=60, context=trusting) as answer:
            assert answer.status == 200
        with pytest.raises((OSError, http.client.HTTPException)):
            urllib.request.urlopen(f"http{address.removeprefix('https')}/api/v1/openapi.json", timeout=60)
        page.send_signal(signal.SIGTERM)
        page.communicate(timeout=60)


@pytest.mark.slow
def test_a_certificate_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("none")
    (tmp_path / "no.pem").chmod(0o600)
    done = subprocess.run(
        [HMSTATS, "web", "--port", "0"],
        cwd=tmp_path,
        env=os.environ | {"HMSTATS__WEB_TLS_CERTIFICATE": "no.pem"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "web_tls_certificate no.pem cannot be used with its key" in done.stderr) == (2, True)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_token_of_the_process_is_said_not_to_count(tmp_path: Path) -> None:
    command = [HMSTATS, "web", "--port", "0", "--metastore", f"http://127.0.0.1:{free_port()}"]
    environment = os.environ | {"HMSTATS__TOKEN": "hmst_own"}
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as page:
        assert page.stdout is not None
        page.stdout.readline()
        page.send_signal(signal.SIGTERM)
        _, said = page.communicate(timeout=60)
    assert "HMSTATS__TOKEN is not used: the page asks as who opens it" in said

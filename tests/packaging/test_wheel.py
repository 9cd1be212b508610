"""The wheel stands alone: installed into an empty environment, outside the checkout, it migrates and serves."""

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """A command's output; its errors are the test's."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HMSTATS__", "PYTHON"))}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hmstats command of an environment that has nothing but the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, CHECKOUT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--constraint", CHECKOUT / "constraints.txt", wheel, cwd=folder)
    return folder / "venv" / "bin" / "hmstats"


@pytest.fixture
def served(installed: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A server of the installed wheel on its embedded default."""
    server = subprocess.Popen(
        [installed, "serve", "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    yield server
    server.terminate()
    server.communicate(timeout=60)


def test_the_wheel_carries_the_api_and_the_migrations(installed: Path) -> None:
    python = installed.parent / "python"
    places = run(
        python,
        "-c",
        "from hmstats.resources import folder; print(folder('thrift')); print(folder('migrations'))",
        cwd=installed.parent,
    )
    assert all("site-packages" in place for place in places.splitlines())


def test_the_wheel_migrates(installed: Path, tmp_path: Path) -> None:
    said = run(installed, "migrate", "--database", f"sqlite:///{tmp_path}/m.sqlite", cwd=tmp_path)
    assert said.startswith("schema none to ")
    assert run(installed, "version", cwd=tmp_path).startswith("hmstats ")


def test_the_wheel_serves(installed: Path, served: subprocess.Popen[str], tmp_path: Path) -> None:
    assert served.stdout is not None
    line = served.stdout.readline()
    assert line.startswith("listening on 127.0.0.1:"), line
    address = line.split()[-1]
    said = run(installed, "ping", "--metastore", f"thrift://{address}", cwd=tmp_path)
    assert "alive" in said


def test_server_and_client_need_no_spark(installed: Path) -> None:
    packages = run(installed.parent / "python", "-m", "pip", "list", "--format", "freeze", cwd=installed.parent)
    names = {line.split("==")[0].lower() for line in packages.splitlines()}
    assert not names & {"pyspark", "pandas", "duckdb", "pytest"}

"""The image and the compose file, as far as they can be tried without containers: what they set is run."""

import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.servers import HMSTATS

from hmstats.client import connect

CHECKOUT = Path(__file__).resolve().parents[2]
DOCKERFILE = (CHECKOUT / "Dockerfile").read_text()
_SETTING = re.compile(r"(HMSTATS__\w+)=(\S+)")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The image's settings, its folders being in another place."""
    given = dict(_SETTING.findall(DOCKERFILE))
    assert len(given) == 3
    for volume in volumes():
        (tmp_path / volume.lstrip("/")).mkdir()
        given = {name: value.replace(volume, f"{tmp_path}{volume}") for name, value in given.items()}
    return {**os.environ, **given}


@pytest.fixture
def port(environment: dict[str, str], tmp_path: Path) -> Iterator[int]:
    command = json.loads(DOCKERFILE.rpartition("CMD ")[2])
    server = subprocess.Popen(
        [HMSTATS, *command, "--port", "0"], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    line = server.stdout.readline()
    assert line.startswith("listening on 0.0.0.0:"), line
    yield int(line.rpartition(":")[2])
    server.terminate()
    server.communicate(timeout=60)


def volumes() -> list[str]:
    found: list[str] = json.loads(re.findall(r"^VOLUME (.*)$", DOCKERFILE, re.MULTILINE)[0])
    return found


def own_address() -> str:
    """An address of this machine that is not loopback. Nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


def test_what_the_image_serves_is_reached_from_outside_and_kept_in_a_volume(port: int, tmp_path: Path) -> None:
    try:
        address = own_address()
    except OSError:
        pytest.skip("this machine has no address but loopback")
    with connect(f"thrift://{address}:{port}", retries=0) as service:
        assert service.database_names() == ["default"]
        assert service.config_value("metastore.warehouse.dir").endswith(f"{tmp_path}/warehouse")
    assert (tmp_path / "data" / "hmstats.sqlite").is_file()
    assert not (tmp_path / "hmstats.sqlite").exists()


def test_compose_names_the_spark_that_is_tested() -> None:
    named = re.findall(r"image: apache/spark:([\d.]+)", (CHECKOUT / "docker-compose.yml").read_text())
    tested = re.findall(r"^pyspark==([\d.]+)$", (CHECKOUT / "constraints.txt").read_text(), re.MULTILINE)
    assert named == tested

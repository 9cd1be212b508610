"""README's blocks: each line of them is run by a test, or its reason for not being run is here."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.docs.test_tutorials import README, blocks
from tests.fixtures.servers import HMSTATS, serving

from hmstats import client

RUN = {
    "hmstats serve": "tests/fixtures/servers.py starts every server of the tests so",
    "hmstats doctor": "tests/cli/actions/test_doctor.py",
    "hmstats analyze": "test_tutorials.test_with_spark",
    "hmstats list": "test_tutorials.test_with_spark",
    "hmstats show": "test_tutorials.test_with_spark",
    "hmstats check": "test_tutorials.test_with_spark",
    "hmstats ask": "test_tutorials.test_with_spark",
    "hmstats migrate": "test_a_server_for_a_team",
    "hmstats adopt": "test_tutorials.test_beside_a_hive",
    "hmstats leave": "test_tutorials.test_beside_a_hive",
    "import hmstats": "tests/typing/test_public_api.py",
    "hmstats.analyze(": "tests/collector: every statement of an analysis goes through it",
}
NOT_RUN = {
    "make demo": "it takes minutes and is for eyes; its parts, hmstats and public clients, have tests",
    "pip install": "it needs a registry; tests/packaging/test_wheel.py installs the wheel instead",
}


def lines() -> list[str]:
    found = [line for language in ("sh", "python") for block in blocks(README, language) for line in block.splitlines()]
    return [line for line in found if line.strip()]


@pytest.mark.parametrize("line", lines())
def test_every_line_is_run_or_has_a_reason(line: str) -> None:
    assert any(line.startswith(beginning) for beginning in (*RUN, *NOT_RUN))


def test_no_reason_is_for_nothing() -> None:
    assert [each for each in (*RUN, *NOT_RUN) if not any(line.startswith(each) for line in lines())] == []


def test_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 150


@pytest.mark.slow
def test_a_server_for_a_team(postgres_url: str, tmp_path: Path) -> None:
    """The block's database is one of the tests', its warehouse a folder, and its port a free one."""
    (block,) = (each for each in blocks(README, "sh") if "hmstats migrate" in each)
    migrate, serve = (shlex.split(re.sub(r"postgresql://\S+", postgres_url, line))[1:] for line in block.splitlines())
    done = subprocess.run([HMSTATS, *migrate], capture_output=True, text=True, check=True, env=os.environ, cwd=tmp_path)
    assert done.stdout.startswith("schema ")
    assert serve[:3] == ["serve", "--host", "0.0.0.0"]
    assert serve[3:5] == ["--database", postgres_url]
    with serving(tmp_path, database=postgres_url) as port, client.connect(f"thrift://127.0.0.1:{port}") as service:
        assert service.version().startswith("hmstats ")

"""The tutorials say what happens: their Python and their commands are run, and those of README on the same table."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import commands
from tests.fixtures.servers import HMSTATS, serving

README = Path(__file__).parents[2] / "README.md"
DOCS = README.parent / "docs"
PAGE_PORT = "9083"
_BLOCKS = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_with_python_alone(tmp_path: Path) -> None:
    page = DOCS / "start" / "tutorial-python.md"
    with serving(tmp_path) as port:
        printed = ran(python(page), port, tmp_path)
        check_commands(page, port, tmp_path)
    assert printed == blocks(page, "text")[0]


@pytest.mark.spark
@pytest.mark.slow
def test_with_spark(tmp_path: Path) -> None:
    page = DOCS / "start" / "tutorial-spark.md"
    analysis = "hmstats analyze sales.orders --metastore thrift://127.0.0.1:9083"
    with serving(tmp_path, warehouse=str(tmp_path / "spark-warehouse")) as port:
        ran(python(page), port, tmp_path)
        assert f"{analysis}\n" in blocks(page, "sh")
        assert "analysed and stored" in told(analysis, port, tmp_path)
        check_commands(page, port, tmp_path)
        analysing = next(block for block in blocks(README, "sh") if "hmstats analyze" in block)
        said = [told(re.sub(r"\s+#.*", "", line), port, tmp_path) for line in analysing.splitlines()]
    assert len(said) == 5
    assert all(said)


@pytest.mark.parametrize("hive_generation", ["4.0"], indirect=True)
@pytest.mark.slow
def test_beside_a_hive(hive_database: str, tmp_path: Path) -> None:
    """The commands of README about a Hive's database are run, but for the server."""
    user, _, place = hive_database.removeprefix("postgresql://").partition("@")
    values = {"ConnectionURL": f"jdbc:postgresql://{place}", "ConnectionUserName": user}
    properties = (
        f"<property><name>javax.jdo.option.{k}</name><value>{v}</value></property>" for k, v in values.items()
    )
    (tmp_path / "hive-site.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")
    block = next(block for block in blocks(README, "sh") if "hmstats adopt" in block)
    lines = [re.sub(r"\s+#.*", "", line) for line in block.splitlines()]
    said = [told(line, 9083, tmp_path) for line in lines if not line.startswith("hmstats serve")]
    assert ["our own tables: not there" in said[0], "our own tables: at revision" in said[1]] == [True, True]
    assert said[2].endswith("removed\n")


def check_commands(page: Path, port: int, folder: Path) -> None:
    shown = commands(page)
    assert len(shown) > 1
    for command, output in shown:
        assert settled(told(command, port, folder)) == settled(output.replace(PAGE_PORT, str(port))), command


def blocks(page: Path, language: str) -> list[str]:
    return [text for name, text in _BLOCKS.findall(page.read_text()) if name == language]


def python(page: Path) -> str:
    """All Python of a page, as one program."""
    return "\n".join(blocks(page, "python"))


def ran(program: str, port: int, folder: Path) -> str:
    return output_of([sys.executable, "-c", program.replace(PAGE_PORT, str(port))], port, folder)


def told(command: str, port: int, folder: Path) -> str:
    """What a command that a page shows prints."""
    return output_of([HMSTATS, *shlex.split(command.replace(PAGE_PORT, str(port)))[1:]], port, folder)


def output_of(command: list[str], port: int, folder: Path) -> str:
    given = os.environ | {"HMSTATS__METASTORE": f"thrift://127.0.0.1:{port}"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=given, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settled(text: str) -> list[list[str]]:
    """The words of each line without what differs from run to run: ages, sizes of files, shapes of histograms."""
    same = re.sub(r"\d+ (s|min)\b|[\d,]+ bytes|[▁▂▃▄▅▆▇█]+|─+", "-", text)
    return [line.split() for line in same.splitlines()]

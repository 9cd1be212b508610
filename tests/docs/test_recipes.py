"""The recipes of docs/collect/refresh.md: each is read by its tool, its command does what `hmstats refresh` does."""

import ast
import configparser
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving

from hmstats.wire.idl import hive_metastore as api

PAGE = Path(__file__).parents[2] / "docs" / "collect" / "refresh.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"(?:\*|\d+)(?:/\d+)?")


def recipes(language: str) -> list[str]:
    """The blocks of the page's section about schedules in one language."""
    section = PAGE.read_text("utf-8").partition("\n## Schedules\n")[2].partition("\n## ")[0]
    return [text for name, text in _BLOCK.findall(section) if name == language]


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the table that recipes name, of which there are no statistics."""
    folder = tmp_path_factory.mktemp("recipes")
    with serving(folder) as port:
        ours = Metastore("hmstats-sqlite", port, 4.0, "shop")
        with ours.clients:
            ours.client().create_database(api.Database(name="shop", description="", parameters={}))
            ours.table("orders", {"id": "bigint"})
        yield f"thrift://127.0.0.1:{port}"


def planned(command: list[str], metastore: str) -> str:
    """What the command would refresh; it must be one of ours that ends well."""
    assert command[:2] == ["hmstats", "refresh"]
    without = [each for each in command[2:] if each != "thrift://metastore:9083"]
    without = [each for each in without if each != "--metastore"]
    done = subprocess.run(
        [HMSTATS, "refresh", *without, "--dry-run", "--metastore", metastore],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_cron(metastore: str) -> None:
    (line,) = recipes("cron")
    *fields, command = line.split(None, 5)
    assert len(fields) == 5
    assert all(_FIELD.fullmatch(each) for each in fields)
    assert "%" not in command  # which cron would end the line at
    assert "shop.orders" in planned(shlex.split(command), metastore)


@pytest.mark.slow
def test_systemd(metastore: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on this machine")
    units = []
    for text in recipes("ini"):
        named = re.match(r"# /etc/systemd/system/(\S+)\n", text)
        assert named
        path = tmp_path / named[1]
        path.write_text(text.replace("/opt/hmstats/bin/hmstats", HMSTATS))
        units.append(path)
    assert [each.name for each in units] == ["hmstats-refresh.service", "hmstats-refresh.timer"]
    judged = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=one", *map(str, units)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (judged.returncode, judged.stderr) == (0, "")
    service = configparser.ConfigParser()
    service.read_string(recipes("ini")[0])
    command = shlex.split(service["Service"]["ExecStart"])
    assert "shop.orders" in planned(["hmstats", *command[1:]], metastore)


@pytest.mark.slow
def test_kubernetes(metastore: str) -> None:
    (text,) = recipes("yaml")
    job: dict[str, Any] = YAML(typ="safe").load(text)
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["env"] == [{"name": "HMSTATS__METASTORE", "value": "thrift://metastore:9083"}]
    assert "shop.orders" in planned(["hmstats", *container["args"]], metastore)


def strings(call: str) -> list[str]:
    """The command in a recipe of Python, which must compile: of an operator's keyword, or of a list."""
    (text,) = [each for each in recipes("python") if call in each]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "bash_command":
            return shlex.split(ast.literal_eval(node.value))
        if isinstance(node, ast.List):
            return [str(each) for each in ast.literal_eval(node)]
    raise AssertionError(call)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["BashOperator", "subprocess.run"])
def test_airflow_and_dagster(metastore: str, call: str) -> None:
    assert "orders" in planned(strings(call), metastore)

"""On a cluster of separate executors: each way for the package to reach them, and one that is lost."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyspark
import pytest
from tests.collector.parted import NAMES, ROWS, parted, stored
from tests.fixtures.servers import serving

import hmstats
from hmstats.resources import folder as resource_folder

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = ("number", "text")
MASTER = "local-cluster[2,1,1024]"
INSTALLED = Path(pyspark.__file__).parent


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(tmp_path_factory.mktemp("cluster"), settings={"send_sketches": True}) as port:
        yield port


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package as a wheel has it, with the API inside."""
    place = tmp_path_factory.mktemp("package") / "lib"
    shutil.copytree(Path(hmstats.__file__).parent, place / "hmstats", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(resource_folder("thrift"), place / "hmstats" / "thrift")
    return place


def test_installed_and_an_executor_that_is_lost(spark_home: Path, port: int, tmp_path: Path) -> None:
    found = analysed(spark_home, port, tmp_path, arguments=("lose",))
    assert found["executors"] == 2
    assert found["packages"] == [hmstats.__file__]
    assert {each.name for each in tmp_path.glob("attempt *")} == {"attempt 0", "attempt 1"}


def test_as_a_zip_file(spark_home: Path, port: int, package: Path, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "hmstats"), "zip", package)
    found = analysed(spark_home, port, tmp_path, "--py-files", packed)
    assert found["packages"]
    assert all("hmstats.zip/" in each for each in found["packages"])


def test_in_an_archive_with_an_interpreter(spark_home: Path, port: int, package: Path, tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text(f'#!/bin/sh\nPYTHONPATH="$(dirname "$0")/../lib:$PYTHONPATH" exec {sys.executable} "$@"\n')
    interpreter.chmod(0o755)
    archive = tmp_path / "environment.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(package, "lib")
        packed.add(interpreter, "bin/python")
    found = analysed(
        spark_home,
        port,
        tmp_path,
        *("--archives", f"{archive}#environment"),
        *("--conf", "spark.pyspark.python=./environment/bin/python"),
        *("--conf", f"spark.pyspark.driver.python={sys.executable}"),
    )
    assert found["packages"]
    assert all("/environment/" in each for each in found["packages"])


@pytest.fixture(scope="module")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of Spark of the test's own, since workers of this kind of cluster leave their folders in it."""
    home = tmp_path_factory.mktemp("spark-home")
    for each in INSTALLED.iterdir():
        (home / each.name).symlink_to(each)
    (home / "work").unlink(missing_ok=True)
    return home


def analysed(spark_home: Path, port: int, folder: Path, *flags: str, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """What a program that analyses a new table said; what it stored is right."""
    name = parted(port, folder / "data", COLUMNS)
    program = Path(__file__).with_name("cluster_session.py")
    command = [str(spark_home / "bin" / "spark-submit"), "--master", MASTER, *flags, str(program)]
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK", "SPARK", "PYTHON"))}
    own = {"SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [*command, f"{name.database}.{name.table}", f"thrift://127.0.0.1:{port}", str(folder), *arguments],
        cwd=folder,
        env=clean | own,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (found["rows"], found["partitions"], found["spooled"]) == (len(NAMES) * ROWS, len(NAMES), 0)
    rows = {each: count for each, (count, _) in stored(port, name).items()}
    assert rows == {**dict.fromkeys(NAMES, str(ROWS)), "": str(len(NAMES) * ROWS)}
    return found

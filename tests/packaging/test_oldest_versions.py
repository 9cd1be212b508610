"""The server and the client work with the oldest versions that the requirements take, which an environment may have."""

import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.fixtures.metastores import Metastore
from tests.packaging.test_wheel import CHECKOUT, run
from tests.server.access.guarded import statistics, table

from hmstats.wire.idl import hive_metastore as api

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info >= (3, 13), reason="numpy 2.0, the oldest, is built for Python 3.9 to 3.12"),
]
_IMPORT_ALL = """
import importlib, pkgutil, hmstats
for module in pkgutil.walk_packages(hmstats.__path__, "hmstats.", onerror=lambda name: None):
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        print(error.name)
    except ImportError as error:
        raise SystemExit(f"{module.name}: {error}")
"""
_OF_EXTRAS = frozenset(
    [
        "deltalake",
        "gssapi",
        "hdfs_native",
        "jinja2",
        "jwt",
        "ldap",
        "mcp",
        "opentelemetry",
        "pandas",
        "py4j",
        "pyiceberg",
        "pyspark",
        "sqlglot",
        "starlette",
        "uvicorn",
    ]
)
"""The modules that hmstats imports and that its own requirements do not bring."""


def _oldest() -> Iterator[str]:
    """Each requirement, fixed at its oldest version."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    for text in project["dependencies"]:
        needed = Requirement(text)
        (version,) = (each.version for each in needed.specifier if each.operator == ">=")
        yield f"{needed.name}=={version}"


@pytest.fixture(scope="module")
def bin_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment with hmstats and the oldest versions."""
    folder = tmp_path_factory.mktemp("oldest")
    (folder / "oldest.txt").write_text("\n".join(_oldest()))
    venv.create(folder / "venv", with_pip=True)
    commands = folder / "venv" / "bin"
    pip = (commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", folder / "oldest.txt", CHECKOUT, cwd=folder)
    return commands


def test_every_module_is_imported(bin_folder: Path) -> None:
    missing = run(bin_folder / "python", "-c", _IMPORT_ALL, cwd=bin_folder)
    assert {name.partition(".")[0] for name in missing.splitlines()} <= _OF_EXTRAS


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_server_keeps_statistics(bin_folder: Path, tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("empty_postgres_url") if kind == "postgres" else f"sqlite:///{tmp_path}/m.sqlite"
    run(bin_folder / "hmstats", "migrate", "--database", url, cwd=tmp_path)
    serve = [bin_folder / "hmstats", "serve", "--port", "0", "--database", url]
    server = subprocess.Popen(serve, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        metastore = Metastore("hmstats", int(address.rpartition(":")[2]), 4.0)
        client = metastore.client()
        client.create_database(api.Database(name="d", description="", parameters={}))
        client.create_table(table("d", "t"))
        for _ in range(4):  # the first writes read the table, others are expected to find it as it was
            client.update_table_column_statistics(statistics("d", "t"))
        assert client.get_table_column_statistics("d", "t", "l").statsObj[0].statsData.longStats.numDVs == 5
        metastore.clients.close()
        shown = run(bin_folder / "hmstats", "show", "d.t", "--metastore", f"thrift://{address}", cwd=tmp_path)
        assert "bigint" in shown
        run(bin_folder / "hmstats", "history", "d.t", "--metastore", f"thrift://{address}", cwd=tmp_path)
    finally:
        server.terminate()
        server.communicate(timeout=60)

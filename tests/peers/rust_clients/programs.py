"""Clients in Rust of a Hive Metastore: the program of this folder, built by the machine's own Rust."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.peers import cache
from tests.peers.sessions.lines import printed

_HERE = Path(__file__).parent


def answers(port: int, folder: Path, transport: str = "buffered") -> list[str]:
    """The answer of each step at a metastore, without the folder below which its tables lie; skips without Rust."""
    if shutil.which("cargo") is None:
        pytest.skip("Iceberg's Rust library is built by cargo, not found on this machine")
    return printed([built(), f"thrift://127.0.0.1:{port}", f"file://{folder}/elsewhere", transport], folder)


def built() -> Path:
    """The program, built on first use."""
    folder = cache.CACHE / "rust-clients" / cache.digest(_HERE)
    program = folder / "session"
    with cache.filling(folder) as empty:
        if empty:
            with tempfile.TemporaryDirectory() as place:
                sources = shutil.copytree(_HERE, Path(place) / "sources")
                subprocess.run(["cargo", "build", "--quiet"], cwd=sources, check=True)
                shutil.copy(sources / "target" / "debug" / "session", program)
    return program

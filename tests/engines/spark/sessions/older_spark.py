"""Statements in the newest Spark that a table format runs in, which is older than the one that is installed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 900
Answers = list[dict[str, Any]]


def session(
    port: int, warehouse: Path, statements: Path, packages: Path, jars: Sequence[Path], conf: Mapping[str, str]
) -> Answers:
    """What each statement answers on the metastore of this port; `packages` has the older PySpark."""
    settings = {"spark.jars": ",".join(map(str, jars)), **conf}
    given = [f"thrift://127.0.0.1:{port}", f"file:{warehouse}", str(statements), "formats"]
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    done = subprocess.run(
        [sys.executable, HERE / "spark_session.py", *given, *(f"{name}={value}" for name, value in settings.items())],
        env={**environment, "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        cwd=warehouse.parent,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]  # Hudi writes lines of its own

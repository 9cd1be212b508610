"""Serves the demonstration's tables, and the page over them, until Ctrl-C. `make demo-web` runs it."""

import subprocess
import sys
from pathlib import Path

from serving import running_server

_FOLDER = Path(__file__).resolve().parents[1] / "demo-data" / "run"


def main() -> int:
    """Start both; the page says its address."""
    if not (_FOLDER / "hmstats.sqlite").is_file():
        raise SystemExit(f"there is no {_FOLDER / 'hmstats.sqlite'}: run `make demo`")
    program = Path(sys.executable).with_name("hmstats")
    with running_server(_FOLDER) as (host, port):
        page = [str(program), "web", "--metastore", f"thrift://{host}:{port}"]
        try:
            return subprocess.run(page, cwd=_FOLDER, check=False).returncode
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())

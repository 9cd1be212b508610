"""Draws docs/images/show.svg: what `hmstats show` prints of the demonstration's tables. `make screenshot` runs it.

The table is analysed again, by the command, on a copy of the demonstration's database; then the command is run in a
terminal of 80 columns, and what it writes there is drawn.
"""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
IMAGE = ROOT / "docs" / "images" / "show.svg"
DEMO = ROOT / "demo-data" / "run"
TABLE = "tpch.orders"
WIDTH = 80
_HMSTATS = str(Path(sys.executable).with_name("hmstats"))
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Fonts are those of the reader: nothing is loaded from elsewhere."""


def main() -> None:
    """Run the commands and write the image."""
    if not (DEMO / "hmstats.sqlite").is_file():
        raise SystemExit(f"there is no {DEMO / 'hmstats.sqlite'}: run `make screenshot`")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(DEMO / "hmstats.sqlite", folder)
        command = [_HMSTATS, "serve", "--port", "0", "--workers", "1"]
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            try:
                line = server.stdout.readline() if server.stdout else ""
                output = _shown(f"thrift://{line.split()[-1]}")
            finally:
                server.terminate()
    IMAGE.parent.mkdir(exist_ok=True)
    IMAGE.write_text(drawn(output))


def _shown(metastore: str) -> str:
    """What the command prints in a terminal, after the statistics were made anew."""
    analyze = [_HMSTATS, "analyze", TABLE, "--metastore", metastore, "--master", "local[2]"]
    subprocess.run(analyze, check=True, stdout=subprocess.DEVNULL)
    return in_terminal([_HMSTATS, "show", TABLE, "--metastore", metastore])


def in_terminal(command: list[str], width: int = WIDTH) -> str:
    """All that a command writes to a terminal of so many columns. Raises CalledProcessError when it fails."""
    master, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(width)}
    with subprocess.Popen(command, stdout=terminal, env=environment) as running:
        os.close(terminal)
        parts = []
        try:
            while part := os.read(master, 65_536):
                parts.append(part)
        except OSError:  # how Linux says that the other end was closed
            pass
        os.close(master)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    return b"".join(parts).decode().replace("\r\n", "\n")


def drawn(output: str) -> str:
    """The image of a terminal's output, below the command that made it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ hmstats show {TABLE}\n{output.rstrip()}"))
    return _FONTS.sub("", console.export_svg(title="hmstats show", unique_id="hmstats-show"))


if __name__ == "__main__":
    main()

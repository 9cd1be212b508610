"""Takes the pictures of docs/web.md: the page over the demonstration's tables. `make page-pictures` runs it.

It needs the extra `browser` and a Chromium of the system, or of Playwright where it has one.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
DATABASE = ROOT / "demo-data" / "run" / "hmstats.sqlite"
_HMSTATS = str(Path(sys.executable).with_name("hmstats"))
_PICTURES = (
    ("web-table", "/tables/tpch.lineitem", "light", 1050),
    ("web-column", "/tables/tpch.orders/columns/o_totalprice", "light", 800),
    ("web-partitions", "/tables/tpch.lineitem/partitions", "dark", 760),
)
"""Name, address, colours and height."""
_WIDTH = 1200


def main() -> None:
    """Serve the demonstration's database, and take each picture."""
    if not DATABASE.is_file():
        raise SystemExit(f"there is no {DATABASE}: run `make page-pictures`")
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        shutil.copy(DATABASE, folder)
        metastore = stack.enter_context(listening(folder, "serve", "--workers", "1"))
        page = stack.enter_context(listening(folder, "web", "--metastore", f"thrift://{metastore}"))
        take(page)


@contextmanager
def listening(folder: Path, *command: str) -> Iterator[str]:
    """A server in a process of its own, on a free port; the address that it says."""
    with subprocess.Popen(
        [_HMSTATS, *command, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            line = server.stdout.readline() if server.stdout else ""
            yield line.split()[-1]
        finally:
            server.terminate()


def take(page: str) -> None:
    """Write a picture of each address."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an optional part

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, address, colours, height in _PICTURES:
            size = {"width": _WIDTH, "height": height}
            context = browser.new_context(color_scheme=colours, viewport=size)  # type: ignore[arg-type]
            shown = context.new_page()
            shown.goto(page + address)
            shown.screenshot(path=IMAGES / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()

"""Takes the pictures of docs/statistics/web.md: the page over the demonstration's tables. `make page-pictures` runs it.

For those of the plan and of feedback, statistics are deleted from a copy of the demonstration's database, Spark runs
queries without them, and `hmstats learn` reads what it expected.

It needs the extra `browser` and a Chromium of the system, or of Playwright where it has one.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hmstats.collector.spark.session import local_session

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
DATABASE = ROOT / "demo-data" / "run" / "hmstats.sqlite"
_HMSTATS = str(Path(sys.executable).with_name("hmstats"))
_PICTURES = (
    ("web-table", "/tables/tpch.lineitem", "light", 1050),
    ("web-column", "/tables/tpch.orders/columns/o_totalprice", "light", 800),
    ("web-partitions", "/tables/tpch.lineitem/partitions", "dark", 715),
)
_PICTURES_OF_LOSS = (
    ("web-health", "/", "light", None),
    ("web-plan", "/plan", "light", None),
    ("web-feedback", "/feedback", "light", None),
    ("web-access", "/access?object=hive.tpch.orders&user=ben", "light", None),
)
Pictures = Sequence[tuple[str, str, str, int | None]]
"""Name, address, colours and height of each; None: as high as the page is."""
_WIDTH, _LEAST_HEIGHT = 1200, 400
_LOST = (("tpch.orders",), ("tpch.customer",), ("tpch.lineitem", "--where", "ship_year = 1994 AND ship_month < 4"))
"""Tables, and partitions of one, whose statistics are deleted."""
_QUERIES = (
    "SELECT count(*) FROM tpch.orders WHERE o_orderpriority = '1-URGENT'",
    "SELECT c_mktsegment, sum(o_totalprice) FROM tpch.customer JOIN tpch.orders ON c_custkey = o_custkey "
    "WHERE o_orderdate >= DATE'1997-01-01' GROUP BY c_mktsegment",
    "SELECT count(*) FROM tpch.lineitem JOIN tpch.orders ON l_orderkey = o_orderkey WHERE o_totalprice < 5000",
    "SELECT count(*) FROM tpch.lineitem WHERE l_shipdate < l_commitdate AND l_discount > 0.05",
)
_RULES = """
[groups]
analysts = ["ben", "eve"]
[[rule]]
groups = ["analysts"]
objects = ["hive.tpch"]
allow = ["list", "read", "read_statistics"]
[[rule]]
users = ["night"]
objects = ["hive.tpch"]
allow = ["list", "read", "read_statistics", "write_statistics", "lock"]
[[rule]]
users = ["anonymous"]
allow = ["list", "read", "read_statistics", "admin"]
"""


def main() -> None:
    """Serve the demonstration's database, and take each picture."""
    if not DATABASE.is_file():
        raise SystemExit(f"there is no {DATABASE}: run `make page-pictures`")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rules.toml").write_text(_RULES, "utf-8")
        shutil.copy(DATABASE, folder)
        with shown(folder) as (metastore, page):
            take(page, _PICTURES)
            lose_and_learn(folder, metastore)
        os.environ["HMSTATS__RULES"] = str(folder / "rules.toml")
        with shown(folder) as (_, page):
            take(page, _PICTURES_OF_LOSS)


@contextmanager
def shown(folder: Path) -> Iterator[tuple[str, str]]:
    """A server over the database in the folder, and the page over it; the addresses of both."""
    with (
        listening(folder, "serve", "--workers", "1") as metastore,
        listening(folder, "web", "--metastore", f"thrift://{metastore}") as page,
    ):
        yield f"thrift://{metastore}", page


def lose_and_learn(folder: Path, metastore: str) -> None:
    """Delete statistics, and learn from Spark's queries that they miss."""
    for lost in _LOST:
        subprocess.run([_HMSTATS, "delete", *lost, "--metastore", metastore], cwd=folder, check=True)
    log = folder / "log"
    log.mkdir()
    told = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.sql.ui.explainMode": "cost",
        "spark.sql.cbo.enabled": "true",
    }
    spark = local_session(metastore, conf=told)
    for query in _QUERIES:
        spark.sql(query).collect()
    spark.stop()
    subprocess.run([_HMSTATS, "learn", str(log), "--metastore", metastore], cwd=folder, check=True)


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


def take(page: str, pictures: Pictures) -> None:
    """Write a picture of each address."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an optional part

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, address, colours, height in pictures:
            size = {"width": _WIDTH, "height": height or _LEAST_HEIGHT}
            context = browser.new_context(color_scheme=colours, viewport=size)  # type: ignore[arg-type]
            shown = context.new_page()
            shown.goto(page + address)
            shown.screenshot(path=IMAGES / f"{name}.png", full_page=height is None)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()

"""A lock and a restore that are clicked through in a browser, as a stock Trino sees them."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.engines.test_planners import planner
from tests.fixtures.servers import serving
from tests.peers import launch

sync_api = pytest.importorskip("playwright.sync_api", reason="no browser can be driven: pip install '.[browser]'")

pytestmark = [
    pytest.mark.engines,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium: apt-get install chromium"),
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Trino comes from Maven, not found on this machine"),
]


@dataclass(frozen=True, slots=True)
class Scene:
    """Trino, and a tab over the page that a server shows on its own HTTP port."""

    trino_port: int
    page: Any
    address: str

    def trino(self, sql: str) -> list[Any]:
        """The rows of a statement."""
        headers = {"X-Trino-User": "peer", "X-Trino-Catalog": "hive", "X-Trino-Schema": "shop"}
        return launch.query(self.trino_port, sql, headers, timeout_seconds=600)

    def distinct(self) -> float:
        """How many values of the column Trino plans with."""
        self.trino("CALL hive.system.flush_metadata_cache()")
        (found,) = [row[2] for row in self.trino("SHOW STATS FOR visits") if row[0] == "app"]
        return float(found)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    try:
        launch.find_java(25, 99, None)
    except SystemExit as missing:
        pytest.skip(f"Trino: {missing}")
    folder: Path = tmp_path_factory.mktemp("clicked")
    settings = {"http_port": 0, "http_page": "true", "web_writes": "true"}
    with (
        serving(folder, settings=settings) as port,
        planner("trino", port, folder) as url,
        sync_api.sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        (page_port,) = re.findall(r'"port": (\d+), "event": "health_served"', (folder / "server.log").read_text())
        tab = browser.new_context().new_page()
        found = Scene(int(url.rpartition(":")[2]), tab, f"http://127.0.0.1:{page_port}")
        found.trino("CREATE SCHEMA hive.shop")
        found.trino("CREATE TABLE visits (app varchar) WITH (format = 'PARQUET')")
        found.trino("INSERT INTO visits VALUES 'mail', 'maps'")
        yield found
        browser.close()


def test_trino_sees_what_is_clicked(scene: Scene) -> None:
    scene.trino("ANALYZE visits")
    assert scene.distinct() == 2
    page = scene.page
    page.goto(f"{scene.address}/tables/shop.visits")
    page.locator(".facts").get_by_role("link", name="none").click()
    page.get_by_label("Reason").fill("month end")
    page.get_by_role("button", name="Lock", exact=True).click()
    sync_api.expect(page.locator(".locks")).to_contain_text("Reason: month end")
    scene.trino("INSERT INTO visits VALUES 'news', 'play', 'docs'")
    scene.trino("ANALYZE visits")
    assert scene.distinct() == 2  # the lock dropped what Trino wrote

    page.get_by_role("button", name="Unlock the table").click()
    sync_api.expect(page.get_by_text("Nothing of this table is locked.")).to_be_visible()
    scene.trino("ANALYZE visits")
    assert scene.distinct() == 5

    page.goto(f"{scene.address}/tables/shop.visits/history")
    page.get_by_role("link", name="Go back to").nth(1).click()
    page.get_by_role("button", name="Go back").click()
    sync_api.expect(page.locator(".versions tbody tr").first).to_contain_text("restore_statistics")
    assert scene.distinct() == 2

"""Every page in a real browser: nothing is loaded from elsewhere, nothing overflows, nobody is kept out.

`make test-browser` installs what it needs. It is skipped without the extra `browser`, or without a Chromium.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS, serving
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import collected

from hmstats import client
from hmstats.errors import CallRefused
from hmstats.model.catalog.objects import TableName
from hmstats.model.feedback.queries import Use
from hmstats.model.feedback.records import Seen
from hmstats.model.feedback.verdicts import Blame, Verdict
from hmstats.model.health.runs import Outcome, Run
from hmstats.model.preferences.preference import Subject
from hmstats.model.statistics.column_statistics import StatisticsSet

sync_api = pytest.importorskip("playwright.sync_api", reason="no browser can be driven: pip install '.[browser]'")
axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install '.[browser]'")

__all__ = ["metastore_port", "shown"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no chromium: apt-get install chromium"),
]
PAGES = [
    "/",
    "/tables",
    "/tables?q=nothing",
    "/locks",
    "/pending",
    "/plan",
    "/plan?budget=2s&limit=1",
    "/runs",
    "/runs?outcome=failed",
    "/feedback",
    "/access",
    "/tables/shop.wide/pending",
    "/tables/shop.visits/history",
    "/tables/shop.visits/history?column=age",
    "/tables/shop.visits/diff",
    "/tables/shop.visits/lock",
    "/tables/shop.marked/lock",
    "/tables/shop.visits/restore?as_of=0s",
    "/tables/shop.visits?as_of=0s",
    "/tables/shop.visits",
    "/tables/shop.by_day",
    "/tables/shop.by_day?from=ds%3D2024-01-30",
    "/tables/shop.visits/columns/age",
    "/tables/shop.visits/columns/app",
    "/tables/shop.visits/columns/paid",
    "/tables/shop.visits/columns/empty",
    "/tables/shop.by_day/partitions",
    "/tables/shop.marked/partitions",
]
WIDTHS = [320, 375, 768, 1024, 1920]
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}

OF_COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(shown: Shown, metastore_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page as users start it, over the tables and one of 60 columns."""
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    names = {f"c{number:02}": "int" for number in range(60)}
    with metastore.clients, client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        metastore.table("wide", names)
        columns = tuple(collected(name, "int", range(5_000)) for name in names)
        wide = TableName("hive", shown.database, "wide")
        service.put_table_statistics(wide, StatisticsSet(columns))
        service.preferences.change(Subject(wide.parent, "wide"), {"publish": "false"})
        service.put_together(wide, [StatisticsSet(columns[:8])], {None: {"numRows": "12000"}})
        _some_runs(service, wide)
        _some_blame(service, wide)
    with page_of(metastore_port, tmp_path_factory.mktemp("web")) as found:
        yield found


@contextmanager
def page_of(port: int, folder: Path) -> Iterator[str]:
    """The address of the page over a metastore, in a process of its own."""
    command = [HMSTATS, "web", "--port", "0", "--writes", "--metastore", f"thrift://127.0.0.1:{port}"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        yield page.stdout.readline().split()[-1]
        page.terminate()


def _some_runs(service: client.Metastore, table: TableName) -> None:
    for number, outcome in enumerate((Outcome.DONE, Outcome.FAILED)):
        run = Run(f"r{number}", table, "night@host", 1, Outcome.RUNNING)
        service.runs.begin(run, 60)
        reason = "its files are gone" if outcome is Outcome.FAILED else None
        service.runs.end(replace(run, outcome=outcome, reason=reason, seconds=90.0 - 60 * number, rows=5_000))


def _some_blame(service: client.Metastore, table: TableName) -> None:
    for column, verdict in ((None, Verdict.STALE), ("c01", Verdict.BEYOND)):
        blame = Blame(table, column, Use.JOIN if column else Use.ROWS, verdict, None, 1_000_000, 12.5, 40.0)
        service.blame.record([Seen(blame, "spark", "shape", int(time.time() * 1_000))])


@contextmanager
def opened(browser: Any, **how: Any) -> Iterator[Any]:
    """A tab; at its end nothing was said on the console, and nobody else was asked."""
    context = browser.new_context(**how)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert said == []
    assert {urlsplit(each).hostname for each in asked} == {"127.0.0.1"}
    context.close()


@pytest.fixture(scope="module", params=PAGES)
def visited(request: pytest.FixtureRequest, browser: Any, address: str) -> Iterator[Any]:
    """A tab that shows one of the pages."""
    with opened(browser, color_scheme="light") as page:
        page.goto(address + request.param)
        yield page


@pytest.fixture(scope="module")
def without_scripts(browser: Any) -> Iterator[Any]:
    """A tab in which no script runs."""
    with opened(browser, java_script_enabled=False) as page:
        yield page


def test_axe_finds_nothing_on_any_page(visited: Any) -> None:
    found = axe_playwright.Axe().run(visited, options=WCAG)
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 15


def test_dark_colours_are_told_apart(visited: Any) -> None:
    visited.emulate_media(color_scheme="dark")
    found = axe_playwright.Axe().run(visited, options=OF_COLOURS)
    assert found.violations_count == 0, found.generate_report()
    assert "color-contrast" in {each["id"] for each in found.response["passes"]}
    visited.emulate_media(color_scheme="light")


def test_nothing_overflows_at_any_width(visited: Any) -> None:
    for width in WIDTHS:
        visited.set_viewport_size({"width": width, "height": 800})
        assert visited.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_script_the_page_says_the_same(visited: Any, without_scripts: Any) -> None:
    texts = []
    for page in (visited, without_scripts):
        page.goto(visited.url)
        text = page.locator("main").inner_text()
        texts.append(re.sub(r"\d+ (s|min)\b|\d\d:\d\d:\d\d UTC", "", text))  # time passes
    assert texts[0] == texts[1]


def test_a_search_answers_while_it_is_typed(browser: Any, address: str) -> None:
    with opened(browser) as page:
        page.goto(f"{address}/tables")
        sync_api.expect(page.get_by_role("row")).to_have_count(6)
        page.get_by_role("searchbox").fill("by_")  # one entry of the browser's history, however fast keys come
        sync_api.expect(page.get_by_role("row")).to_have_count(2)
        sync_api.expect(page).to_have_url(f"{address}/tables?q=by_")
        assert page.get_by_role("searchbox").input_value() == "by_"
        page.go_back()
        sync_api.expect(page.get_by_role("row")).to_have_count(6)


def test_further_columns_come_as_one_scrolls(browser: Any, address: str) -> None:
    with opened(browser) as page:
        page.goto(f"{address}/tables/shop.wide")
        rows = page.locator("tbody tr th")
        assert rows.count() == 25
        for _ in range(2):
            page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
            page.wait_for_load_state("networkidle")
        sync_api.expect(rows).to_have_count(60)
        assert len(set(rows.all_inner_texts())) == 60


def test_a_keyboard_alone_reaches_everything(browser: Any, address: str) -> None:
    with opened(browser) as page:
        page.goto(address)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("by_d/")
        assert page.get_by_role("searchbox").input_value() == "by_d/"
        page.goto(f"{address}/tables/shop.by_day/partitions")
        wanted = page.locator("main a, main button, main input").count()
        reached = set()
        for _ in range(wanted + 10):
            page.keyboard.press("Tab")
            inside = "document.activeElement.closest('main') && document.activeElement.outerHTML"
            reached.add(page.evaluate(inside))
        assert len(reached - {None}) == len(
            set(page.locator("main a, main button, main input").evaluate_all("all => all.map(each => each.outerHTML)"))
        )


def test_a_day_opens_its_columns_and_a_range_is_merged(browser: Any, address: str) -> None:
    with opened(browser) as page:
        page.goto(f"{address}/tables/shop.by_day/partitions")
        page.get_by_label("Only partitions where").fill("ds <= '2024-01-30'")
        page.get_by_role("button", name="Select").click()
        assert page.locator(".facts").inner_text().startswith("Selected partitions\n2 exact")
        page.get_by_role("link", name="The columns of these partitions together").click()
        assert "Of 2 selected partitions that match ds <= '2024-01-30'" in page.locator("main").inner_text()
        page.goto(f"{address}/tables/shop.by_day/partitions")
        page.get_by_role("link", name="ds=2024-01-29: 1 partition, 100 rows, 2.0 KiB").click()
        assert "Of 1 selected partition:" in page.locator("main").inner_text()


def test_a_lock_and_a_restore_are_clicked_through(browser: Any, address: str, metastore_port: int) -> None:
    """Another client of the metastore sees each of them at once."""
    name = TableName("hive", "shop", "visits")
    with opened(browser) as page, client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        before = service.table_statistics(name, ["age"])
        page.goto(f"{address}/tables/shop.visits")
        page.locator(".facts").get_by_role("link", name="none").click()
        page.get_by_label("Reason").fill("month end")
        page.get_by_label("refused with an error").check()
        page.get_by_role("button", name="Lock", exact=True).click()
        sync_api.expect(page.locator(".locks")).to_contain_text("Reason: month end")
        with pytest.raises(CallRefused, match="month end"):
            service.delete_statistics(name, ["age"])
        page.get_by_role("button", name="Unlock the table").click()
        sync_api.expect(page.get_by_text("Nothing of this table is locked.")).to_be_visible()
        service.delete_statistics(name, ["age"])
        assert not service.table_statistics(name, ["age"])
        page.goto(f"{address}/tables/shop.visits/history")
        page.get_by_role("link", name="Go back to").nth(1).click()
        page.get_by_role("button", name="Go back").click()
        sync_api.expect(page.locator(".versions tbody tr").first).to_contain_text("restore_statistics")
        assert service.table_statistics(name, ["age"]) == before


def test_two_chosen_versions_are_compared(browser: Any, address: str, metastore_port: int) -> None:
    name = TableName("hive", "shop", "bare")
    with opened(browser) as page, client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        for rows in ("10", "20", "40"):
            service.put_table_parameters(name, {"numRows": rows})
        page.goto(f"{address}/tables/shop.bare/history")
        page.get_by_label("Compare from").nth(2).check()
        page.get_by_role("button", name="Compare the two chosen").press("Enter")
        sync_api.expect(page.get_by_role("row", name="rows 10 40 4")).to_be_visible()


RULES = """
[groups]
<b>readers</b> = ["eve"]
[[rule]]
groups = ["<b>readers</b>"]
objects = ["hive.a_database_with_a_name_that_is_long.a_table_with_a_name_that_is_longer_still"]
allow = ["list", "read", "read_statistics"]
[[rule]]
users = ["anonymous"]
allow = ["list", "read", "read_statistics", "write_statistics", "admin"]
""".replace("<b>readers</b> =", "'<b>readers</b>' =")


def test_rules_are_read_by_everybody(browser: Any, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(RULES)
    name = "hive.a_database_with_a_name_that_is_long.a_table_with_a_name_that_is_longer_still"
    with serving(tmp_path, settings={"rules": rules}) as port, page_of(port, tmp_path) as address:
        for colours in ("light", "dark"):
            with opened(browser, color_scheme=colours) as page:
                page.goto(f"{address}/access?object={name}&user=eve")
                found = axe_playwright.Axe().run(page, options=WCAG)
                assert found.violations_count == 0, found.generate_report()
                assert "What eve (of <b>readers</b>) may do with" in page.locator("main").inner_text()
                for width in WIDTHS:
                    page.set_viewport_size({"width": width, "height": 800})
                    assert page.evaluate("document.documentElement.scrollWidth") <= width
                page.get_by_role("row", name="read_statistics allowed").get_by_role("link", name="rule 1").click()
                sync_api.expect(page.locator("#rule-1")).to_be_in_viewport()

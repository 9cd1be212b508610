"""The pages over our server, as a browser without scripts gets them."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import DAYS, MARKUP, SCRIPT

from hmstats.web.guards.headers import POLICY

__all__ = ["metastore_port", "shown"]
PAGES = [
    "/",
    "/tables/shop.visits",
    "/tables/shop.by_day",
    "/tables/shop.by_day?from=ds%3D2024-01-30",
    "/tables/shop.visits/columns/age",
    "/tables/shop.visits/columns/app",
    "/tables/shop.visits/columns/paid",
    "/tables/shop.visits/columns/empty",
    "/tables/shop.by_day/columns/ds",
    "/tables/shop.by_day/partitions",
    "/tables/shop.marked",
    "/tables/shop.marked/partitions",
    "/nothing",
]


class Read(HTMLParser):
    """A page's elements, its text, and where it leads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_asks_nothing_of_others_and_has_landmarks(shown: Shown, path: str) -> None:
    answer = shown.page.get(path)
    assert answer.headers["Content-Security-Policy"] == POLICY
    page = Read(answer.text)
    tags = {name for name, _ in page.elements}
    assert {"header", "nav", "main", "footer", "h1", "title"} <= tags
    assert not tags & {"style", "iframe", "object", "base"}
    for _, attributes in page.elements:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("href", "src", "action", "hx-get"):
            assert (attributes.get(name) or "/").startswith(("/", "#"))
            assert not (attributes.get(name) or "").startswith("//")
    assert [each.get("src") for each in page.all("script")] == ["/static/htmx.min.js", "/static/page.js"]
    assert all(each["role"] == "img" and each["aria-label"] for each in page.all("svg") if "aria-hidden" not in each)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("path", PAGES[:-1])
def test_every_link_leads_somewhere(shown: Shown, path: str) -> None:
    page = Read(shown.html(path))
    links = {each["href"] or "" for each in (*page.all("a"), *page.all("link"))}
    for link in sorted(links):
        if link.startswith("/"):
            assert shown.page.get(link).status_code == 200, link


def test_the_page_says_what_the_api_says(shown: Shown) -> None:
    page = Read(shown.html("/tables/shop.visits")).text
    found = shown.json("/tables/shop.visits")
    for column in found["columns"]:
        if "distinct" in column:
            assert f"{column['distinct']['value']:,} about" in page or f"{column['distinct']['value']:,} exact" in page
        if "least" in column:
            assert f"{column['least']['value']} exact" in page
    assert "1,000 exact" in page
    assert "5.0 MiB exact" in page
    assert "stale" in page


def test_what_is_not_known_is_a_dash(shown: Shown) -> None:
    page = Read(shown.html("/tables/shop.bare")).text
    assert "Rows \N{EN DASH}" in page
    assert "Age of statistics \N{EN DASH} \N{EN DASH}" in page
    column = Read(shown.html("/tables/shop.visits/columns/empty")).text
    assert "ANALYZE TABLE shop.visits COMPUTE STATISTICS FOR COLUMNS empty" in column
    assert "Distinct values \N{EN DASH}" in column


@pytest.mark.parametrize(
    "path", ["/tables/shop.visits/columns/app", "/tables/shop.visits", "/tables/shop.marked/partitions"]
)
def test_names_and_values_with_markup_stay_text(shown: Shown, path: str) -> None:
    page = shown.html(path)
    read = Read(page)
    assert "b" not in {name for name, attributes in read.elements if attributes}
    assert MARKUP not in page
    assert "onclick" in page


def test_types_with_markup_stay_text(shown: Shown) -> None:
    page = shown.html("/tables/shop.marked")
    assert SCRIPT not in page
    assert SCRIPT in Read(page).text


def test_an_error_with_markup_stays_text(shown: Shown) -> None:
    answer = shown.page.get("/tables/shop.%3Cb%3E")
    assert answer.status_code == 404
    assert "<b>" not in answer.text
    assert "table shop.<b> is not in the metastore" in Read(answer.text).text


def test_a_search_without_a_script(shown: Shown) -> None:
    page = Read(shown.html("/tables", q="by_"))
    assert [each["href"] for each in page.all("a") if (each["href"] or "").startswith("/tables/")] == [
        "/tables/shop.by_day",
        "/tables/shop.by_day/partitions",
    ]
    assert [each["value"] for each in page.all("input")] == ["by_"]
    assert "No table whose name contains nothing" in Read(shown.html("/tables", q="nothing")).text


def test_a_day_without_a_partition_is_marked(shown: Shown) -> None:
    page = Read(shown.html("/tables/shop.by_day/partitions"))
    assert "2024-02-01: no partition" in page.text
    cells = [each for each in page.all("a") if (each.get("class") or "").startswith("cell ")]
    assert len(cells) == len(DAYS)
    assert cells[0]["aria-label"] == "ds=2024-01-29: 1 partition, 100 rows, 2.0 KiB"
    assert [each["class"] for each in cells][::8] == ["cell shade1", "cell shade5"]


def test_a_reload_of_what_has_not_changed_is_a_304(shown: Shown) -> None:
    for path in ("/api/v1/tables/shop.visits", "/static/page.css"):
        first = shown.page.get(path)
        again = shown.page.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert shown.page.get(path, headers={"If-None-Match": '"else"'}).status_code == 200


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:9088", "[::1]:9088", "10.0.0.7"])
def test_addresses_and_localhost_are_the_pages_own_names(shown: Shown, host: str) -> None:
    assert shown.page.get("/static/page.js", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:9088", "127.0.0.1.evil.example", ""])
def test_another_name_is_refused(shown: Shown, host: str) -> None:
    answer = shown.page.get("/api/v1/databases", headers={"Host": host})
    assert answer.status_code == 421
    assert "web_names" in answer.json()["detail"]


def test_files_that_are_not_the_pages_own_are_not_there(shown: Shown) -> None:
    for name in ("nothing.css", "..%2Frouting.py", "../routes.py"):
        assert shown.page.get(f"/static/{name}").status_code == 404


def test_many_columns_come_in_parts(shown: Shown, metastore_port: int) -> None:
    from tests.fixtures.metastores import Metastore
    from tests.web.tables import collected

    from hmstats import client
    from hmstats.model.catalog.objects import TableName

    names = {f"c{number}": "int" for number in range(60)}
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    with metastore.clients, client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        metastore.table("wide", names)
        from hmstats.model.statistics.column_statistics import StatisticsSet

        columns: Any = tuple(collected(name, "int", range(5_000)) for name in names)
        service.put_table_statistics(TableName("hive", shown.database, "wide"), StatisticsSet(columns))
    page = shown.html("/tables/shop.wide")
    assert len(page.encode()) < 100_000
    read = Read(page)
    assert len(read.all("svg")) == 25 + 2  # the name of the page, and the health
    (more,) = [each for each in read.all("tr") if "hx-get" in each]
    assert "c25" in Read(shown.page.get(more["hx-get"] or "").text).text

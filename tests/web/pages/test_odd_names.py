"""Links to tables and columns whose names have slashes, dots, percent signs, followed as a browser does."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from tests.fixtures.metastores import Metastore
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import page_of

from hmstats import client
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.wire.idl import hive_metastore as api

__all__ = ["metastore_port", "shown"]
TABLES = ["a/b", "/a", "a//b", "a/columns/b", "x/history", "a.b", "a b", "\N{LATIN SMALL LETTER E WITH ACUTE}"]
COLUMNS = [".", "..", "a/b", "/a", "a//b", "a%2fb", "a%b", "%2e%2e", "a?b", "a#b", "`q`", "`", "a\tb", "a b", "history"]


def links(page: str) -> list[str]:
    """Where a page leads on this site."""
    return [each for each in map(unescape, re.findall(r'href="([^"]*)"', page)) if each.startswith("/")]


def by_browser(link: str) -> str:
    """The address that a browser asks for: it removes the parts `.` and `..`, also where they are encoded."""
    path, mark, query = link.partition("?")
    kept: list[str] = []
    for part in path.split("/"):
        if unquote(part) == ".." and kept:
            kept.pop()
        elif unquote(part) not in (".", ".."):
            kept.append(part)
    return "/".join(kept) + mark + query


@pytest.fixture(scope="module")
def odd(shown: Shown, metastore_port: int) -> Shown:
    """The page over a database with the tables, of which the first has the columns."""
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    with metastore.clients:
        for name in TABLES:
            metastore.table(name, dict.fromkeys(COLUMNS if name == TABLES[0] else ["i"], "int"))
    return shown


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_found_by_its_link_and_by_the_link_to_its_json(odd: Shown, table: str) -> None:
    named = f"{odd.database}.{table}" if table.isalnum() else f"{odd.database}.`{table}`"
    assert f"/tables/{quote(named, safe='')}" in links(odd.html("/tables"))
    page = odd.html(f"/tables/{quote(named, safe='')}")
    for link in links(page):
        assert odd.page.get(by_browser(link)).status_code == 200, link
    json = next(each for each in links(page) if each.startswith("/api/v1/tables/"))
    assert odd.page.get(json).json()["table"] == named


def test_each_column_is_found_by_its_link_and_by_the_link_to_its_json(odd: Shown) -> None:
    start = f"/tables/{quote(f'{odd.database}.`{TABLES[0]}`', safe='')}"
    found = []
    for link in links(odd.html(start)):
        if link.startswith(f"{start}/columns/"):
            page = odd.page.get(by_browser(link))
            json = next(each for each in links(page.text) if each.startswith("/api/v1/tables/"))
            found.append(odd.page.get(by_browser(json)).json()["column"]["name"])
            assert f"<h1>{found[-1]} " in unescape(page.text)
    assert sorted(found) == sorted(COLUMNS)


def test_the_page_of_locks_leads_to_tables_of_odd_names_and_of_other_catalogs(
    shown: Shown, metastore_port: int, tmp_path: Path
) -> None:
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    with metastore.clients, client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        metastore.table("locked/t", {"i": "int"})
        thrift = metastore.client()
        catalog = api.Catalog(name="locked_lake", locationUri=str(tmp_path))
        thrift.create_catalog(api.CreateCatalogRequest(catalog=catalog))
        thrift.create_database(api.Database(name="own", catalogName="locked_lake", description="", parameters={}))
        storage = metastore.storage({"i": "int"})
        thrift.create_table(api.Table(catName="locked_lake", dbName="own", tableName="t", sd=storage, partitionKeys=[]))
        service.locks.lock(LockedObject(DatabaseName("hive", shown.database), "locked/t"))
        service.locks.lock(LockedObject(DatabaseName("locked_lake", "own"), "t"))
    with page_of(metastore_port) as page:
        text = page.get("/locks").text
        led = [each for each in links(text) if each.endswith("/lock")]
        named = [quote(each, safe="") for each in (f"{shown.database}.`locked/t`", "locked_lake.own.t")]
        assert led == [f"/tables/{each}/lock" for each in named]
        assert [page.get(each).status_code for each in led] == [200, 200]
        assert [each.get("catalog") for each in page.get("/api/v1/locks").json()["locks"]] == [None, "locked_lake"]

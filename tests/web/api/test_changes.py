"""Changes by the API: each names the version that it is about, and is refused where the page only reads."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fixtures.metastores import Metastore
from tests.web.fixture import DATABASE, metastore_port
from tests.web.tables import page_of, shown_tables, visits

from hmstats import client
from hmstats.model.catalog.objects import DatabaseName, TableName
from hmstats.model.statistics.column_statistics import StatisticsSet
from hmstats.model.statistics.statistics_locks import LockedObject
from hmstats.web.api import precondition
from hmstats.wire.idl import hive_metastore as api

__all__ = ["metastore_port"]
VISITS = "/api/v1/tables/shop.visits"
ZERO = '"' + 32 * "0" + '"'


@pytest.fixture(scope="module")
def page(metastore_port: int) -> Iterator[TestClient]:
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=DATABASE)
    with metastore.clients:
        metastore.client().create_database(api.Database(name=DATABASE, description="", parameters={}))
        with shown_tables(metastore, writes=True) as found:
            yield found


@pytest.fixture
def service(metastore_port: int) -> Iterator[client.Metastore]:
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as found:
        yield found


def version(page: TestClient, path: str) -> dict[str, str]:
    return {"If-Match": page.get(path).headers["ETag"]}


def good(response: Any) -> Any:
    assert response.status_code == 200, response.text
    return response.json()


def test_a_table_is_locked_and_unlocked(page: TestClient, service: client.Metastore) -> None:
    wish = {"reason": "month end", "refuse": True}
    locked = good(page.put(f"{VISITS}/lock", json=wish, headers=version(page, f"{VISITS}/lock")))["locks"]
    assert [(each["table"], each["refuse"], each["reason"]) for each in locked] == [("visits", True, "month end")]
    assert good(page.get(VISITS))["lock"]["reason"] == "month end"
    with pytest.raises(client_refusal(), match="month end"):
        service.put_table_statistics(TableName("hive", DATABASE, "visits"), visits())
    assert [each["table"] for each in good(page.get("/api/v1/locks"))["locks"]] == ["visits"]
    unlocked = good(page.delete(f"{VISITS}/lock", headers=version(page, f"{VISITS}/lock")))
    assert unlocked["locks"] == []
    service.put_table_statistics(TableName("hive", DATABASE, "visits"), visits())


def client_refusal() -> type[Exception]:
    from hmstats.errors import CallRefused

    return CallRefused


def test_columns_and_partitions_are_locked_by_name(page: TestClient) -> None:
    table = "/api/v1/tables/shop.by_day"
    good(page.put(f"{table}/lock", json={"columns": ["AGE"]}, headers=version(page, f"{table}/lock")))
    wish = {"partition": "ds=2024-01-29"}
    locks = good(page.put(f"{table}/lock", json=wish, headers=version(page, f"{table}/lock")))["locks"]
    assert sorted((each.get("partition", ""), each["columns"]) for each in locks) == [
        ("", ["age"]),
        ("ds=2024-01-29", []),
    ]
    assert good(page.get(table))["locked_parts"] == 2
    for query in ("columns=age", "partition=ds%3D2024-01-29"):
        left = good(page.delete(f"{table}/lock?{query}", headers=version(page, f"{table}/lock")))
    assert left["locks"] == []
    missing = page.put(f"{table}/lock", json={"columns": ["none"]}, headers=version(page, f"{table}/lock"))
    assert (missing.status_code, missing.json()["detail"]) == (404, "column none is not in table shop.by_day")


def test_what_was_written_over_comes_back(page: TestClient, service: client.Metastore) -> None:
    name = TableName("hive", DATABASE, "visits")
    before = good(page.get(f"{VISITS}/history"))["versions"][0]["at"]
    few = StatisticsSet(tuple(each for each in visits().columns if each.column == "age"))
    service.put_table_statistics(name, few)
    service.delete_statistics(name, ["age"])
    assert "nulls" not in good(page.get(f"{VISITS}/columns/age"))["column"]
    assert good(page.get(f"{VISITS}/columns/age", params={"as_of": before}))["column"]["nulls"]["value"] == 100
    changes = good(page.get(f"{VISITS}/diff", params={"from": before}))["changes"]
    assert {"column": "age", "statistic": "nulls", "before": 100}.items() <= {
        **changes[[c["statistic"] for c in changes].index("nulls")]
    }.items()
    preview = good(page.get(f"{VISITS}/restore", params={"as_of": before}))
    assert (preview["done"], preview["written"]) == (False, 1)
    assert "nulls" not in good(page.get(f"{VISITS}/columns/age"))["column"]
    done = good(page.post(f"{VISITS}/history", json={"as_of": before}, headers=version(page, f"{VISITS}/history")))
    assert (done["done"], done["written"]) == (True, 1)
    column = good(page.get(f"{VISITS}/columns/age"))["column"]
    assert (column["nulls"]["value"], column["histogram"]["values"]) == (100, 900)
    assert good(page.get(f"{VISITS}/history"))["versions"][0]["call"] == "restore_statistics"


def test_a_course_has_a_moment_for_each_write(page: TestClient, service: client.Metastore) -> None:
    name = TableName("hive", DATABASE, "visits")
    for rows in ("2000", "3000"):
        service.put_table_parameters(name, {"numRows": rows})
    moments = good(page.get(f"{VISITS}/course", params={"column": "age"}))["moments"]
    moments = moments and good(page.get(f"{VISITS}/course"))["moments"]
    assert [each["rows"]["value"] for each in moments[-3:]] == [1000, 2000, 3000]


def test_a_history_comes_in_pages(page: TestClient, service: client.Metastore) -> None:
    for rows in range(4):
        service.put_table_parameters(TableName("hive", DATABASE, "bare"), {"numRows": str(rows)})
    path, found, after = "/api/v1/tables/shop.bare/history", [], None
    while True:
        answer = good(page.get(path, params={"limit": 2} | ({"after": after} if after else {})))
        found += [each["at"] for each in answer["versions"]]
        after = answer.get("next")
        if after is None:
            break
    assert found == [each["at"] for each in good(page.get(path))["versions"]]
    assert len(found) >= 4


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({}, 428, "a change names the version"),
        ({"If-Match": ZERO}, 412, "shop.visits has changed meanwhile"),
        ({"If-Match": "now", "Sec-Fetch-Site": "cross-site"}, 403, "of another site"),
        ({"If-Match": "now", "Origin": "https://evil.example"}, 403, "of another site"),
        ({"If-Match": "now", "Content-Type": "text/plain"}, 400, "must be application/json, found text/plain"),
    ],
)
def test_a_change_that_must_not_be_is_refused(
    page: TestClient, headers: dict[str, str], status: int, said: str
) -> None:
    now = version(page, f"{VISITS}/lock")["If-Match"]
    given = {name: now if text == "now" else text for name, text in headers.items()}
    refused = page.put(f"{VISITS}/lock", content="{}", headers={"Content-Type": "application/json"} | given)
    assert (refused.status_code, refused.headers["Content-Type"]) == (status, "application/problem+json")
    assert said in refused.json()["detail"]
    assert good(page.get(f"{VISITS}/lock"))["locks"] == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "Invalid JSON"),
        ('{"refuse": "perhaps"}', "refuse: Input should be a valid boolean"),
        ('{"more": 1}', "more: "),
        ("[" * 70_000, "at most 65,536 bytes"),
    ],
)
def test_a_body_that_makes_no_sense_names_what_is_wrong(page: TestClient, body: str, said: str) -> None:
    headers = version(page, f"{VISITS}/lock") | {"Content-Type": "application/json"}
    refused = page.put(f"{VISITS}/lock", content=body, headers=headers)
    assert refused.status_code == 400
    assert said in refused.json()["detail"]


def test_a_page_that_only_reads_takes_no_change(page: TestClient, metastore_port: int) -> None:
    with page_of(metastore_port) as reading:
        for method, path in (("put", "lock"), ("delete", "lock"), ("post", "history")):
            refused = reading.request(method, f"{VISITS}/{path}", headers={"If-Match": ZERO})
            assert (refused.status_code, refused.json()["title"]) == (403, "Forbidden")
            assert refused.json()["detail"] == "the page only reads: changes need the setting web_writes"
        assert "<form" not in reading.get("/tables/shop.visits/lock").text


@pytest.mark.parametrize("text", ["yesterday", "2024-01-01T00:00:00", "9999999d", ""])
def test_a_time_that_is_none_is_refused(page: TestClient, text: str) -> None:
    for path in (VISITS, f"{VISITS}/columns/age", f"{VISITS}/restore"):
        assert page.get(path, params={"as_of": text}).status_code == 400
    assert page.get(f"{VISITS}/diff", params={"from": text}).status_code == 400


def test_a_course_of_the_table_asks_for_no_column(page: TestClient, service: client.Metastore) -> None:
    """A table of thousands of columns has the numbers of rows as quickly as one of a few."""
    name = TableName("hive", DATABASE, "visits")
    found = service.past.history(name)
    then = service.past.past(name, found.writes[-1].at_ms, [])
    assert list(then.sets) == []
    assert then.parameters == service.past.past(name, found.writes[-1].at_ms).parameters


@pytest.fixture
def slipping_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has something happen once, between the look at a version and the change."""

    def slip_in(happen: Any) -> None:
        look, waiting = precondition.version, [happen]

        def looked(*given: Any) -> str:
            found = look(*given)
            if waiting:
                waiting.pop()()
            return found

        monkeypatch.setattr(precondition, "version", looked)

    return slip_in


def test_what_slips_in_before_a_change_is_not_written_over(
    page: TestClient, service: client.Metastore, slipping_in: Any
) -> None:
    path, of = "/api/v1/tables/shop.bare/lock", LockedObject(DatabaseName("hive", DATABASE), "bare")
    seen = version(page, path)
    slipping_in(lambda: service.locks.lock(of, reason="somebody else"))
    late = page.put(path, json={"reason": "mine"}, headers=seen)
    assert (late.status_code, "has changed meanwhile" in late.json()["detail"]) == (412, True)
    assert [each["reason"] for each in good(page.get(path))["locks"]] == ["somebody else"]
    good(page.delete(path, headers=version(page, path)))


def test_what_slips_in_and_is_of_no_account_delays_a_change(
    page: TestClient, service: client.Metastore, slipping_in: Any
) -> None:
    path = "/api/v1/tables/shop.bare/lock"
    seen = version(page, path)
    slipping_in(lambda: service.put_table_parameters(TableName("hive", DATABASE, "bare"), {"noted": "meanwhile"}))
    assert [each["reason"] for each in good(page.put(path, json={"reason": "mine"}, headers=seen))["locks"]] == ["mine"]
    good(page.delete(path, headers=version(page, path)))

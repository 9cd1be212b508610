"""The API's answers over our server: each number with how sure it is."""

import shlex

import pytest
from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import BIG, DAYS, MARKUP

__all__ = ["metastore_port", "shown"]


def test_databases(shown: Shown) -> None:
    assert shown.database in shown.json("/databases")["databases"]


def test_tables_come_in_order_by_pages(shown: Shown) -> None:
    first = shown.json("/tables", limit=3)
    assert [each["name"] for each in first["tables"]] == ["bare", "by_day", "marked"]
    second = shown.json("/tables", limit=3, after=first["next"])
    assert [each["table"] for each in second["tables"]] == ["shop.visits"]
    assert "next" not in second
    (visits,) = second["tables"]
    assert visits["rows"] == {"value": 1_000, "certainty": "exact"}
    assert visits["size_bytes"]["value"] == 5 * 1024 * 1024
    assert (visits["accurate_columns"], visits["columns"]) == (3, 6)


def test_the_next_page_is_a_link_too(shown: Shown) -> None:
    first = shown.page.get("/api/v1/tables", params={"limit": 1})
    address, relation = first.headers["Link"].split("; ")
    assert relation == 'rel="next"'
    assert shown.page.get(address.strip("<>")).json()["tables"][0]["name"] == "by_day"


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("VIS", ["visits"]),
        ("i", ["visits"]),
        ("shop.b", ["bare", "by_day"]),
        ("op.visits", ["visits"]),
        ("_", ["by_day"]),
        ("*", []),
        ("b|v", []),
        ("shop", []),
    ],
)
def test_a_search_finds_parts_of_names(shown: Shown, search: str, found: list[str]) -> None:
    assert [each["name"] for each in shown.json("/tables", q=search)["tables"]] == found


def test_tables_of_one_database(shown: Shown) -> None:
    assert len(shown.json("/tables", database="SHOP")["tables"]) == 4
    assert shown.json("/tables", database="default") == {"tables": []}
    assert shown.json("/tables", database="default", q="visits") == {"tables": []}


def test_a_table_with_its_columns(shown: Shown) -> None:
    found = shown.json("/tables/shop.visits")
    assert found["hmstats"] is True
    assert found["rows"] == {"value": 1_000, "certainty": "exact"}
    columns = {each["name"]: each for each in found["columns"]}
    age = columns["age"]
    assert age["nulls"] == {"value": 100, "certainty": "exact"}
    assert (age["least"]["value"], age["greatest"]["value"]) == (1, 79)
    assert age["distinct"]["certainty"] == "estimate"
    assert age["distinct"]["low"] <= 72 <= age["distinct"]["high"]
    assert age["histogram"]["values"] == 900
    assert sum(age["histogram"]["counts"]) == pytest.approx(900, rel=1e-4)
    assert columns["paid"]["trues"]["value"] == 250
    assert columns["price"]["greatest"]["value"] == "999.50"
    assert columns["empty"] == {"name": "empty", "type": "int", "is_key": False, "quantiles": []}
    assert columns["price"]["stale"] == "not in COLUMN_STATS_ACCURATE"
    assert "stale" not in age


def test_whole_numbers_beyond_a_double_are_text(shown: Shown) -> None:
    (big,) = [each for each in shown.json("/tables/shop.visits")["columns"] if each["name"] == "big"]
    assert big["least"] == {"value": str(BIG), "certainty": "exact"}


def test_columns_come_by_pages(shown: Shown) -> None:
    first = shown.json("/tables/shop.visits", limit=4)
    assert [each["name"] for each in first["columns"]] == ["age", "app", "big", "price"]
    assert first["column_count"] == 6
    second = shown.json("/tables/shop.visits", limit=4, after=first["next"])
    assert [each["name"] for each in second["columns"]] == ["paid", "empty"]


def test_a_column_with_its_quartiles_and_frequent_values(shown: Shown) -> None:
    app = shown.json("/tables/shop.visits/columns/APP")["column"]
    assert [(each["value"], each["low"]) for each in app["frequent"]["values"]] == [
        ("mail", 600),
        ("maps", 300),
        (MARKUP, 100),
    ]
    assert app["frequent"]["exact"] is True
    found = shown.json("/tables/shop.visits/columns/age")
    assert [each["fraction"] for each in found["column"]["quantiles"]] == [0.25, 0.5, 0.75]
    for each in found["column"]["quantiles"]:
        assert each["low"] <= each["value"] <= each["high"]
        assert each["value"] == pytest.approx(80 * each["fraction"], abs=6)
    assert found["commands"][0] == "hmstats ask distinct shop.visits age"
    assert "FROM `shop`.`visits`" in found["statement"]


def test_partitions_of_a_table_together(shown: Shown) -> None:
    found = shown.json("/tables/shop.by_day")
    assert found["partitions"] == {"value": len(DAYS), "certainty": "exact"}
    columns = {each["name"]: each for each in found["columns"]}
    assert columns["age"]["nulls"] == {"value": 100 * len(DAYS), "certainty": "exact"}
    assert columns["age"]["histogram"]["values"] == 900 * len(DAYS)
    assert columns["age"]["tool"] == "tests 1"
    assert columns["ds"]["is_key"] is True
    assert columns["ds"]["distinct"] == {"value": len(DAYS), "certainty": "exact"}


def test_a_range_of_partitions_is_merged_on_the_fly(shown: Shown) -> None:
    of_range = {"from": f"ds={DAYS[1]}", "to": f"ds={DAYS[2]}"}
    found = shown.json("/tables/shop.by_day", **of_range)
    assert found["selection"] == {"partitions": 2, "first": f"ds={DAYS[1]}", "last": f"ds={DAYS[2]}"}
    assert found["rows"]["value"] == 200 + 300
    age = next(each for each in found["columns"] if each["name"] == "age")
    assert age["nulls"] == {"value": 200, "certainty": "exact"}
    assert age["histogram"]["values"] == 1_800
    of_filter = shown.json("/tables/shop.by_day/columns/age", where=f"ds >= '{DAYS[1]}' and ds <= '{DAYS[2]}'")
    assert of_filter["column"]["nulls"] == age["nulls"]
    assert "--where" in of_filter["commands"][0]
    assert of_filter["column"]["frequent"]["count"] == 1_800


def test_commands_can_be_copied_to_a_shell(shown: Shown) -> None:
    for where in (f"ds >= '{DAYS[1]}'", f'ds >= "{DAYS[1]}"'):
        commands = shown.json("/tables/shop.by_day/columns/age", where=where)["commands"]
        assert shlex.split(commands[0])[2:] == ["distinct", "shop.by_day", "age", "--where", where]


def test_partitions_as_cells(shown: Shown) -> None:
    found = shown.json("/tables/shop.by_day/partition-cells")
    assert (found["layout"], found["partitions"], found["total"]) == ("calendar", len(DAYS), len(DAYS))
    assert [each["label"] for each in found["cells"]] == DAYS
    assert found["cells"][2] == {
        "label": DAYS[2],
        "group": "",
        "first": f"ds={DAYS[2]}",
        "last": f"ds={DAYS[2]}",
        "partitions": 1,
        "rows": 300,
        "size_bytes": 2048,
    }


def test_partitions_by_pages(shown: Shown) -> None:
    first = shown.json("/tables/shop.by_day/partitions", limit=7)
    assert [each["partition"] for each in first["partitions"]] == [f"ds={day}" for day in DAYS[:7]]
    second = shown.json("/tables/shop.by_day/partitions", limit=7, after=first["next"])
    assert [each["partition"] for each in second["partitions"]] == [f"ds={day}" for day in DAYS[7:]]
    assert second["partitions"][-1]["rows"] == {"value": 900, "certainty": "unsaid"}
    assert "next" not in second


def test_what_is_not_known_is_absent(shown: Shown) -> None:
    found = shown.json("/tables/shop.bare")
    assert "written_at" not in found
    assert found["columns"] == [{"name": "a", "type": "int", "is_key": False, "quantiles": []}]


@pytest.mark.parametrize(
    ("path", "query", "status", "sentence"),
    [
        ("/tables/shop.nothing", {}, 404, "table shop.nothing is not in the metastore at thrift://"),
        ("/tables/a.b.c.d", {}, 400, "a table must be named as DB.TABLE, found 'a.b.c.d'"),
        ("/tables/shop.visits/columns/nothing", {}, 404, "column nothing is not in table shop.visits"),
        ("/tables/shop.visits/partitions", {}, 404, "table shop.visits has no partitions"),
        ("/tables/shop.visits", {"where": "a = 1"}, 404, "table shop.visits has no partitions to select"),
        ("/tables/shop.by_day", {"from": "ds=x"}, 404, "no partition of table shop.by_day is selected"),
        ("/tables/shop.by_day", {"where": "ds >"}, 400, ""),
        ("/tables", {"limit": "0"}, 400, "limit must be a whole number from 1 to 500, found '0'"),
        ("/tables", {"after": "x"}, 400, "a cursor must be taken from the answer before, found 'x'"),
        ("/tables", {"as_of": "x"}, 400, "there is no parameter 'as_of', only q, database, after, limit"),
        ("/nothing", {}, 404, "there is nothing at /api/v1/nothing"),
    ],
)
def test_problems_are_told_in_a_sentence(
    shown: Shown, path: str, query: dict[str, str], status: int, sentence: str
) -> None:
    found = shown.page.get(f"/api/v1{path}", params=query)
    assert found.status_code == status
    assert found.headers["content-type"] == "application/problem+json"
    problem = found.json()
    assert problem["detail"].startswith(sentence)
    assert (problem["status"], problem["instance"]) == (status, f"/api/v1{path}")


def test_a_metastore_that_is_away_is_a_problem() -> None:
    from tests.fixtures.ports import free_port
    from tests.web.tables import page_of

    with page_of(free_port()) as page:
        found = page.get("/api/v1/databases")
        assert found.status_code == 503
        assert found.json()["detail"].startswith("no metastore can be reached at thrift://127.0.0.1:")
        assert page.get("/").status_code == 503


def test_only_reading(shown: Shown) -> None:
    found = shown.page.post("/api/v1/tables")
    assert (found.status_code, found.json()["title"]) == (405, "Method Not Allowed")
    assert "GET" in found.headers["Allow"]

"""Tables by health: the start page, and the first line of a table."""

from tests.web.fixture import Shown, metastore_port, shown

__all__ = ["metastore_port", "shown"]


def test_the_worst_come_first_with_what_to_do(shown: Shown) -> None:
    found = shown.json("/health")["tables"]
    assert sorted(each["health"] for each in found) == [each["health"] for each in found]
    by_name = {each["table"]: each for each in found}
    assert by_name["shop.bare"]["reason"] == "missing"
    assert by_name["shop.bare"]["command"] == "hmstats refresh shop.bare"
    assert by_name["shop.by_day"]["partitions"] == 9
    page = shown.html("/")
    assert page.index("bare") < page.index("visits")
    assert "hmstats refresh shop.bare" in page


def test_a_list_comes_in_pages(shown: Shown) -> None:
    every = [each["table"] for each in shown.json("/health")["tables"]]
    found: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = shown.json("/health", limit=1, **after)
        found += [each["table"] for each in page["tables"]]
        if "next" not in page:
            break
        after = {"after": page["next"]}
    assert found == every


def test_only_what_is_asked_for(shown: Shown) -> None:
    assert all(each["health"] < 100 for each in shown.json("/health", below=100)["tables"])
    assert shown.json("/health", database="none")["tables"] == []
    for query in ("database=a*b", "below=0", "below=101", "after=nothing"):
        assert shown.page.get(f"/api/v1/health?{query}").status_code == 400, query


def test_a_table_says_its_health(shown: Shown) -> None:
    assert shown.json("/tables/shop.bare")["health"]["why"] == "no statistics"
    assert "health" not in shown.json("/tables/shop.bare", as_of="0s")
    assert "no statistics" in shown.html("/tables/shop.bare")

"""Tables by health: the start page, and the first line of a table."""

from tests.fixtures.metastores import Metastore
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


def test_a_table_that_no_analysis_reads_has_its_reason_and_no_command(shown: Shown, metastore_port: int) -> None:
    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    with metastore.clients:
        metastore.table("lake", {"n": "int"}, parameters={"table_type": "PAIMON"})
        found = shown.json("/tables/shop.lake")["health"]
        (listed,) = [each for each in shown.json("/health")["tables"] if each["table"] == "shop.lake"]
        page = shown.html("/")
        metastore.client().drop_table(shown.database, "lake", deleteData=False)
    assert found["refused"].startswith("is of the format Paimon, which is not supported")
    assert listed["refused"] == found["refused"]
    assert "command" not in listed
    assert "is of the format Paimon" in page


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

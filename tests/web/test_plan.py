"""The plan of a refresh, as a page and as JSON: the order, the terms of each score, and what is left out."""

import re

from tests.web.fixture import Shown, metastore_port, shown

from hmstats import client
from hmstats.model.catalog.objects import DatabaseName
from hmstats.model.statistics.statistics_locks import LockedObject

__all__ = ["metastore_port", "shown"]


def test_a_plan_has_the_largest_gain_a_second_first(shown: Shown) -> None:
    found = shown.json("/plan")
    planned = {each["table"]: (each.get("partitions"), each["why"]) for each in found["work"]}
    assert set(planned) == {"shop.by_day", "shop.bare", "shop.marked", "shop.visits"}
    assert (planned["shop.by_day"], planned["shop.bare"]) == ((9, "changed"), (None, "missing"))
    scores = [each["score"] for each in found["work"]]
    assert scores == sorted(scores, reverse=True)
    for each in found["work"]:
        score = each["staleness"] * each["use"] * each["share"] * each["waiting"] / each["cost_seconds"]
        assert abs(score - each["score"]) < 0.01
    assert (found["beyond"], found["complete"], found["command"]) == (0, True, "hmstats refresh")
    page = shown.html("/plan", tables="", budget="")
    assert re.search(r'href="/tables/shop.by_day".*9 partitions.*changed', page, re.DOTALL)
    assert re.search(r"1.00 stale . 1 use . 1.00 waiting / [\d.]+ s", page)


def test_a_budget_leaves_the_rest_for_later(shown: Shown) -> None:
    found = shown.json("/plan", budget="2s", tables="shop.*")
    assert found["work"]
    assert found["beyond"] > 0
    assert found["command"] == "hmstats refresh 'shop.*' --budget 2s"
    assert "beyond the budget" in shown.html("/plan", tables="shop.*", budget="2s")


def test_a_plan_of_the_worst_tables_says_so(shown: Shown) -> None:
    found = shown.json("/plan", limit=1)
    assert (len(found["work"]), found["complete"]) == (1, False)
    assert "only the tables and partitions of least health" in shown.html("/plan", limit=1)


def test_a_table_that_is_locked_is_left_out_with_the_reason(shown: Shown, metastore_port: int) -> None:
    visits = LockedObject(DatabaseName("hive", "shop"), "visits")
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.locks.lock(visits)
        try:
            found = shown.json("/plan")
            assert "shop.visits" not in [each["table"] for each in found["work"]]
            assert [(each["table"], each["why"]) for each in found["left_out"]] == [("shop.visits", "is locked")]
            assert re.search(r"Left out.*shop.visits.*is locked", shown.html("/plan"), re.DOTALL)
        finally:
            service.locks.unlock(visits)


def test_bad_questions_are_refused_in_a_sentence(shown: Shown) -> None:
    for given, said in (
        ({"budget": "soon"}, "a duration must be a number with s, m, h, d or w"),
        ({"tables": "a.b.c.d"}, "a.b.c.d"),
    ):
        answer = shown.page.get("/api/v1/plan", params=given)
        assert (answer.status_code, said in answer.json()["detail"]) == (400, True), answer.text

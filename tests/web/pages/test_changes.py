"""Forms of the page: a restore and a lock by the fields that a browser sends."""

import re
from html import unescape

from tests.web.fixture import Shown, metastore_port, shown
from tests.web.tables import visits

from hmstats import client
from hmstats.model.catalog.objects import TableName

__all__ = ["metastore_port", "shown"]


def fields(page: str, action: str) -> dict[str, str]:
    form = page.split(f'action="{action}" method="post"', 1)[1].split("</form>", 1)[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: unescape(value) for name, value in found}


def sent(shown: Shown, where: str, given: dict[str, str]) -> str:
    found = shown.page.post(where, data=given)
    assert found.status_code == 200, found.text
    return found.text


def test_a_lock_is_made_and_removed_by_its_forms(shown: Shown) -> None:
    path = "/tables/shop.visits/lock"
    wish = {"reason": "<b>end</b>", "writes": "refuse", "columns": "", "partition": ""}
    page = sent(shown, path, fields(shown.html(path), path) | wish)
    assert "All statistics of the table" in page
    assert "Reason: &lt;b&gt;end&lt;/b&gt;" in page
    assert ">locked</a>" in shown.html("/tables/shop.visits")
    page = sent(shown, "/tables/shop.visits/unlock", fields(page, "/tables/shop.visits/unlock"))
    assert "Nothing of this table is locked" in page


def test_going_back_is_previewed_then_done(shown: Shown, metastore_port: int) -> None:
    name = TableName("hive", shown.database, "visits")
    before = shown.json("/tables/shop.visits/history")["versions"][0]["at"]
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.delete_statistics(name, ["age"])
        preview = shown.html("/tables/shop.visits/restore", as_of=before)
        assert "Column statistics to write" in preview
        given = fields(preview, "/tables/shop.visits/restore")
        service.put_table_parameters(name, {"numRows": "7"})
        late = shown.page.post("/tables/shop.visits/restore", data=given)
        assert (late.status_code, "has changed meanwhile" in late.text) == (412, True)
        given = fields(shown.html("/tables/shop.visits/restore", as_of=before), "/tables/shop.visits/restore")
        assert "restore_statistics" in sent(shown, "/tables/shop.visits/restore", given)
        assert service.existing_table("shop.visits").parameters["numRows"] == "1000"
    assert shown.json("/tables/shop.visits/columns/age")["column"]["nulls"]["value"] == 100
    assert "there is nothing to do" in shown.html("/tables/shop.visits/restore", as_of="0s")


def test_a_form_without_the_token_is_refused(shown: Shown) -> None:
    path = "/tables/shop.visits/lock"
    given = fields(shown.html(path), path)
    for token in ("", "0" * 64, "é"):
        assert shown.page.post(path, data=given | {"token": token}).status_code == 403
    assert shown.page.post(path, data={**given, "version": ""}).status_code == 428
    assert shown.page.post(path, content=b"\xff\xfe").status_code == 400
    assert "Nothing of this table is locked" in shown.html(path)


def test_a_diff_says_what_changed_and_how_it_looked(shown: Shown, metastore_port: int) -> None:
    name = TableName("hive", shown.database, "visits")
    before = shown.json("/tables/shop.visits/history")["versions"][0]["at"]
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.put_table_parameters(name, {"numRows": "4000"})
        service.delete_statistics(name, ["price"])
        page = shown.html("/tables/shop.visits/diff", **{"from": before})
        service.put_table_statistics(name, visits())
        service.put_table_parameters(name, {"numRows": "1000"})
    assert re.search(r"rows</th><td[^>]*>1,000</td><td[^>]*>4,000</td><td[^>]*>4</td>", page)
    assert page.count('<svg viewBox="0 0 300') == 1  # price had a histogram, and has none


def test_a_dropped_table_keeps_its_history(shown: Shown, metastore_port: int) -> None:
    from tests.fixtures.metastores import Metastore

    metastore = Metastore("hmstats-sqlite", metastore_port, 4.0, database=shown.database)
    with metastore.clients:
        metastore.table("gone", {"a": "int"}, parameters={"numRows": "5"})
        metastore.client().drop_table(shown.database, "gone", True)
    page = shown.html("/tables/shop.gone/history")
    assert "The table is not there now" in page
    assert "dropped" in page
    assert shown.page.get("/tables/shop.never/history").status_code == 404

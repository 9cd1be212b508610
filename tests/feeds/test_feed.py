"""A feed sends what changed since its cursor, as each catalog has it, and owes what it could not send."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.feeds.catalogs import Listening, listening
from tests.web.fixture import Shown, metastore_port, shown
from typer.testing import CliRunner, Result

from hmstats import client
from hmstats.cli.main import app
from hmstats.errors import ServiceUnavailable, SettingsError, StatementError
from hmstats.feeds.cursors import Cursor, read_cursor, write_cursor
from hmstats.feeds.feed import Names, send_tables
from hmstats.feeds.sending import Catalog
from hmstats.model.catalog.objects import TableName

__all__ = ["metastore_port", "shown"]
TABLES = ["shop.bare", "shop.by_day", "shop.marked", "shop.visits"]


@pytest.fixture
def catalog() -> Iterator[Listening]:
    with listening() as found:
        yield found


@pytest.fixture
def run(shown: Shown, metastore_port: int, catalog: Listening, tmp_path: Path) -> Any:
    """Runs the command with a cursor of this test; its outcomes by table."""

    def feed(kind: str, *more: str, code: int = 0) -> dict[str, str]:
        command = ["feed", kind, catalog.url, "--cursor", str(tmp_path / "cursor.json"), "--json", *more]
        done = CliRunner().invoke(app, [*command, "--metastore", f"thrift://127.0.0.1:{metastore_port}"])
        assert done.exit_code == code, done.output
        lines = [json.loads(each) for each in done.stdout.splitlines()]
        if "--dry-run" in more or not lines:
            return {"": done.stdout}
        return {each["table"]: each["outcome"] for each in lines}

    return feed


def test_all_tables_then_what_changed(run: Any, catalog: Listening, metastore_port: int) -> None:
    assert sorted(run("openlineage")) == TABLES
    assert {path for _, path, _, _ in catalog.requests} == {"/api/v1/lineage"}
    catalog.requests.clear()
    assert run("openlineage") == {"": ""}
    assert catalog.requests == []
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        service.put_table_parameters(TableName("hive", "shop", "bare"), {"numRows": "12"})
    assert run("openlineage") == {"shop.bare": "sent"}
    ((method, _, headers, event),) = catalog.requests
    assert (method, headers["content-type"]) == ("POST", "application/json")
    assert event["dataset"]["name"] == "shop.bare"
    assert event["dataset"]["facets"]["dataQualityMetrics"]["rowCount"] == 12


def test_what_a_catalog_refuses_is_owed(run: Any, catalog: Listening) -> None:
    catalog.answer = lambda _method, _path: (400, {"message": "no"})
    assert set(run("datahub", code=3).values()) == {"failed"}
    catalog.answer = lambda _method, _path: (200, {})
    assert sorted(run("datahub")) == TABLES
    assert run("datahub") == {"": ""}


def test_a_table_that_openmetadata_does_not_have_is_left_out(run: Any, catalog: Listening) -> None:
    def answer(method: str, path: str) -> tuple[int, Any]:
        if method == "GET":
            return (200, {"id": "4f"}) if path == "/v1/tables/name/hive.default.shop.visits" else (404, {})
        return 200, {}

    catalog.answer = answer
    outcomes = run("openmetadata")
    assert outcomes == dict.fromkeys(TABLES, "unknown") | {"shop.visits": "sent"}
    puts = [(path, body) for method, path, _, body in catalog.requests if method == "PUT"]
    assert [path for path, _ in puts] == ["/v1/tables/4f/tableProfile"]
    age = next(each for each in puts[0][1]["columnProfile"] if each["name"] == "age")
    assert (age["nullCount"], age["min"], age["max"], age["nullProportion"]) == (100, 1, 79, 0.1)
    assert [each["name"] for each in age["customMetrics"]] == ["distinct_low", "distinct_high"]


@pytest.mark.parametrize("body", ["<html>", {}, {"id": None}, None])
def test_an_answer_that_openmetadata_does_not_give_is_told(
    shown: Shown, metastore_port: int, catalog: Listening, body: Any
) -> None:
    """Without `/api` OpenMetadata answers with its page, and status 200."""
    catalog.answer = lambda _method, _path: (200, body)
    done = _of_visits("openmetadata", catalog, metastore_port)
    assert done.exit_code == 3
    assert f"{catalog.url} must be the API of OpenMetadata, as https://HOST/api, found the answer" in done.stderr
    assert [method for method, _, _, _ in catalog.requests] == ["GET"]


def test_a_redirect_is_told_with_its_address(shown: Shown, metastore_port: int, catalog: Listening) -> None:
    catalog.answer = lambda _method, _path: (302, {})
    catalog.headers = {"Location": "https://login.example.org/"}
    done = _of_visits("datahub", catalog, metastore_port)
    assert "status 302: it points to https://login.example.org/, which is not followed\n" in done.stderr


def test_a_refusal_is_one_line_that_no_terminal_obeys(shown: Shown, metastore_port: int, catalog: Listening) -> None:
    catalog.answer = lambda _method, _path: (400, {})
    catalog.headers = {"Location": "x"}
    catalog.text = "no\n\x1b]0;title\x07"
    done = _of_visits("datahub", catalog, metastore_port)
    assert done.stderr == "shop.visits: status 400: no \ufffd]0;title\ufffd\n"


def test_a_catalog_that_stays_away_is_not_asked_for_each_table(
    shown: Shown, metastore_port: int, catalog: Listening
) -> None:
    catalog.answer = lambda _method, _path: (503, {})
    asked = Catalog(catalog.url, pause=lambda _: None)
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        outcomes = list(send_tables(service, "openlineage", asked, Names("hive://x"), [*TABLES, "shop.gone"]))
    assert [(each.table, each.outcome) for each in outcomes] == [(each, "failed") for each in [*TABLES, "shop.gone"]]
    assert "5 attempts" in (outcomes[2].reason or "")
    reason = f"not sent, since {catalog.url} took no request of the 3 tables before"
    assert [each.reason for each in outcomes[3:]] == [reason, reason]
    assert len(catalog.requests) == 15


def test_tables_that_a_catalog_fails_at_now_and_then_stop_no_other(
    shown: Shown, metastore_port: int, catalog: Listening
) -> None:
    statuses = iter([*[500] * 10, 200, *[500] * 10, 200])
    catalog.answer = lambda _method, _path: (next(statuses), {})
    asked = Catalog(catalog.url, pause=lambda _: None)
    with client.connect(f"thrift://127.0.0.1:{metastore_port}") as service:
        outcomes = list(send_tables(service, "openlineage", asked, Names("hive://x"), [*TABLES[:3], *TABLES[:3]]))
    assert [each.outcome for each in outcomes] == ["failed", "failed", "sent"] * 2


def _of_visits(kind: str, catalog: Listening, port: int) -> Result:
    command = ["feed", kind, catalog.url, "--table", "shop.visits", "--metastore", f"thrift://127.0.0.1:{port}"]
    return CliRunner().invoke(app, command)


def test_numbers_as_each_catalog_has_them(run: Any, catalog: Listening) -> None:
    message = json.loads(run("openlineage", "--dry-run", "--table", "shop.visits")[""])
    metrics = message["dataset"]["facets"]["dataQualityMetrics"]["columnMetrics"]
    assert metrics["age"] | {"quantiles": None, "distinctCount": None} == {
        "nullCount": 100, "count": 900, "min": 1, "max": 79, "quantiles": None, "distinctCount": None,
    }  # fmt: skip
    assert (metrics["price"]["min"], metrics["price"]["max"]) == (0.5, 999.5)
    assert "min" not in metrics["app"]
    proposal = json.loads(run("datahub", "--dry-run", "--table", "shop.visits")[""])["proposal"]
    assert proposal["entityUrn"] == "urn:li:dataset:(urn:li:dataPlatform:hive,shop.visits,PROD)"
    profile = json.loads(proposal["aspect"]["value"])
    app = next(each for each in profile["fieldProfiles"] if each["fieldPath"] == "app")
    assert app["distinctValueFrequencies"][0] == {"value": "mail", "frequency": 600}
    assert (profile["rowCount"], profile["sizeInBytes"], profile["columnCount"]) == (1_000, 5 * 1024 * 1024, 6)
    assert catalog.requests == []


@pytest.mark.usefixtures("shown")
def test_a_named_table_that_is_missing_is_an_error(metastore_port: int, catalog: Listening) -> None:
    for more in ([], ["--dry-run"]):
        command = ["feed", "datahub", catalog.url, "--table", "shop.visits", "--table", "shop.visit", *more]
        done = CliRunner().invoke(app, [*command, "--metastore", f"thrift://127.0.0.1:{metastore_port}"])
        assert isinstance(done.exception, StatementError)
        assert "table shop.visit is not in the metastore at thrift://" in str(done.exception)
        assert done.stdout == ""
    assert catalog.requests == []


def test_a_busy_catalog_is_asked_again(catalog: Listening) -> None:
    waits: list[float] = []
    statuses = iter([503, 429, 200])
    catalog.answer = lambda _method, _path: (next(statuses), {})
    assert Catalog(catalog.url, pause=waits.append).request("POST", "/x", {}).status == 200
    assert len(waits) == 2
    assert waits[1] > 0.25
    catalog.answer = lambda _method, _path: (503, {})
    with pytest.raises(ServiceUnavailable, match="took no request in 5 attempts: status 503"):
        Catalog(catalog.url, pause=waits.append).request("POST", "/x", {})
    with pytest.raises(ServiceUnavailable, match="refused"):
        Catalog("http://127.0.0.1:1", pause=waits.append).request("GET", "/")


def test_a_proxy_of_the_environment_is_used_but_for_this_machine(
    catalog: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "no_proxy", "NO_PROXY", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", catalog.url)
    assert Catalog("http://catalog.invalid:81/gms", pause=lambda _: None).request("POST", "/x?y=1", {}).status == 200
    assert [(method, path) for method, path, _, _ in catalog.requests] == [
        ("POST", "http://catalog.invalid:81/gms/x?y=1")
    ]
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert Catalog(catalog.url, "secret", pause=lambda _: None).request("GET", "/").status == 200


def test_a_token_does_not_follow_where_a_catalog_points(catalog: Listening) -> None:
    with listening() as other:
        catalog.answer = lambda _method, _path: (307, {})
        catalog.headers = {"Location": f"{other.url}/elsewhere"}
        assert Catalog(catalog.url, "secret").request("GET", "/").status == 307
        assert other.requests == []


@pytest.mark.parametrize("url", ["ftp://h", "http://", "http://user:secret@h", "h"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="a catalog's address must be"):
        Catalog(url)


def test_a_token_is_sent_to_the_same_machine_or_encrypted(catalog: Listening) -> None:
    Catalog(catalog.url, "secret").request("GET", "/")
    assert catalog.requests[0][2]["authorization"] == "Bearer secret"
    with pytest.raises(SettingsError, match="unencrypted"):
        Catalog("http://catalog.example.org", "secret")
    assert "secret" not in repr(Catalog("https://catalog.example.org", "secret"))


def test_a_cursor_survives_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "cursor.json"
    assert read_cursor(place) == Cursor()
    write_cursor(place, Cursor(7, ("a.b",)))
    assert read_cursor(place) == Cursor(7, ("a.b",))
    assert [each.name for each in place.parent.iterdir()] == ["cursor.json"]
    place.write_text("{}")
    with pytest.raises(SettingsError, match="is no cursor of a feed"):
        read_cursor(place)


def test_a_cursor_that_cannot_be_written_leaves_nothing_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "cursor.json"
    place.mkdir()
    with pytest.raises(SettingsError, match=r"the cursor .*cursor\.json cannot be written"):
        write_cursor(place, Cursor(7))
    assert [each.name for each in tmp_path.iterdir()] == ["cursor.json"]

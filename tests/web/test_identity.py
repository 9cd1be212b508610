"""The page asks as whoever opens it: what a browser shows goes to the metastore, whose rules decide."""

import base64
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.cli.serving.test_secured import made_token
from tests.fixtures.servers import serving
from tests.server.access.guarded import done, statistics, table
from tests.server.serving import Client

from hmstats.errors import SettingsError
from hmstats.web.application import application
from hmstats.web.process import metastores
from hmstats.wire.idl import hive_metastore as api

RULES = """
[[rule]]
users = ["ada"]
objects = ["hive.d.t"]
allow = ["list", "read", "read_statistics", "lock"]

[[rule]]
users = ["ben"]
objects = ["hive.d"]
allow = ["list", "read", "read_statistics"]
"""
NEAR = ("127.0.0.1", 50_000)
pytestmark = pytest.mark.slow


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def basic(user: str, secret: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(f'{user}:{secret}'.encode()).decode()}"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str, str]]:
    """The port of a server that proves users by tokens, and the tokens of ada and ben."""
    folder: Path = tmp_path_factory.mktemp("identity")
    with serving(folder) as port, Client(("127.0.0.1", port)) as client:
        done(client.ask("create_database", database=api.Database(name="d", description="", parameters={})))
        for name in ("t", "u"):
            done(client.ask("create_table", tbl=table("d", name)))
            done(client.ask("update_table_column_statistics", stats_obj=statistics("d", name)))
    url = f"sqlite:///{folder}/hmstats.sqlite"
    ada, ben = made_token(url, "hers", "ada"), made_token(url, "his", "ben")
    rules = folder / "rules.toml"
    rules.write_text(RULES)
    settings = {"authentication": '["token"]', "rules": rules}
    with serving(folder, settings=settings) as port:
        yield port, ada, ben


@pytest.fixture
def page(site: tuple[int, str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The page in a process with a token of its own, which must not count."""
    monkeypatch.setenv("HMSTATS__TOKEN", site[2])
    app = application(metastores(f"http://127.0.0.1:{site[0]}", 30), writes=True)
    with TestClient(app, base_url="http://localhost", client=NEAR) as found:
        yield found


def test_who_shows_nothing_is_asked(page: TestClient) -> None:
    for path in ("/", "/api/v1/tables"):
        asked = page.get(path)
        assert asked.status_code == 401
        assert asked.headers["WWW-Authenticate"] == 'Basic realm="hmstats", charset="UTF-8"'
    assert page.get("/", headers=bearer("hmst_wrong")).status_code == 401


def test_a_browser_sees_what_its_user_may_see(page: TestClient, site: tuple[int, str, str]) -> None:
    _, ada, ben = site
    for way in (bearer, lambda secret: basic("", secret)):
        for secret, seen in ((ada, ["d.t"]), (ben, ["d.t", "d.u"])):
            answer = page.get("/api/v1/tables", headers=way(secret))
            assert answer.status_code == 200, answer.text
            assert [each["table"] for each in answer.json()["tables"]] == seen
    assert page.get("/tables/d.u", headers=bearer(ada)).status_code == 404
    assert page.get("/tables/d.u", headers=bearer(ben)).status_code == 200
    assert "Authorization" in page.get("/", headers=bearer(ben)).headers["Vary"]


def test_a_lock_needs_the_right_of_its_user(page: TestClient, site: tuple[int, str, str]) -> None:
    _, ada, ben = site
    path = "/api/v1/tables/d.t/lock"
    version = {"If-Match": page.get(path, headers=bearer(ben)).headers["ETag"]}
    refused = page.put(path, json={}, headers=bearer(ben) | version)
    assert (refused.status_code, "ben may not lock hive.d.t" in refused.json()["detail"]) == (403, True)
    locked = page.put(path, json={}, headers=bearer(ada) | version).json()["locks"]
    assert [each["locked_by"] for each in locked] == ["ada"]
    assert page.delete(path, headers=bearer(ada) | {"If-Match": page.get(path, headers=bearer(ada)).headers["ETag"]})


def test_a_user_is_told_what_it_may_do_and_another_not(page: TestClient, site: tuple[int, str, str]) -> None:
    _, ada, ben = site
    found = page.get("/api/v1/access", params={"object": "hive.d.t"}, headers=bearer(ada)).json()
    assert (found["user"], found["enforced"], "rules" in found) == ("ada", True, False)
    allowed = {each["action"]: each["rule"] for each in found["decisions"] if each["allowed"]}
    assert allowed == dict.fromkeys(("list", "read", "read_statistics", "lock"), 1)
    shown = page.get("/access", params={"object": "hive.d.t"}, headers=bearer(ben)).text
    assert re.search(r'lock</th><td[^>]*><span class="badge stale">denied</span></td><td[^>]*>rule 2</td>', shown)
    hidden = page.get("/api/v1/access", params={"object": "hive.d.u"}, headers=bearer(ada))
    missing = page.get("/api/v1/access", params={"object": "hive.d.v"}, headers=bearer(ada))
    assert (hidden.status_code, missing.status_code) == (404, 404)
    of_another = page.get("/api/v1/access", params={"user": "ben"}, headers=bearer(ada))
    assert (of_another.status_code, "ada may not admin the server" in of_another.json()["detail"]) == (403, True)
    assert page.get("/api/v1/access", params={"object": "a.b.c.d"}, headers=bearer(ada)).status_code == 400


def test_users_at_once_are_never_mixed_up(page: TestClient, site: tuple[int, str, str]) -> None:
    _, ada, ben = site

    def seen(secret: str) -> int:
        return len(page.get("/api/v1/tables", headers=bearer(secret)).json()["tables"])

    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(seen, [ada, ben] * 40))
    assert counts == [1, 2] * 40


def test_a_form_of_one_user_is_no_form_of_another(page: TestClient, site: tuple[int, str, str]) -> None:
    _, ada, ben = site
    form = page.get("/tables/d.t/lock", headers=bearer(ben)).text
    token, version = (form.split(f'name="{name}" value="')[1].split('"')[0] for name in ("token", "version"))
    fields = {"token": token, "version": version.replace("&#34;", '"')}
    forged = page.post("/tables/d.t/lock", data=fields, headers=bearer(ada))
    assert (forged.status_code, "not of this page" in forged.text) == (403, True)
    foreign = page.post("/tables/d.t/lock", data=fields, headers=bearer(ben) | {"Sec-Fetch-Site": "same-site"})
    assert foreign.status_code == 403


def test_a_secret_in_the_clear_is_refused(site: tuple[int, str, str]) -> None:
    port, ada, _ = site
    there = metastores(f"http://127.0.0.1:{port}", 30)
    for app, base, status in (
        (application(there), "http://10.0.0.1", 400),
        (application(there), "https://10.0.0.1", 200),
        (application(there, unencrypted=True), "http://10.0.0.1", 200),
    ):
        with TestClient(app, base_url=base, client=("10.0.0.2", 50_000)) as far:
            assert far.get("/", headers=bearer(ada)).status_code == status
    with TestClient(application(there), base_url="http://localhost", client=NEAR) as near:
        assert near.get("/", headers={"Authorization": "Negotiate abc"}).status_code == 400


def test_a_metastore_that_cannot_take_a_proof_gets_none(site: tuple[int, str, str]) -> None:
    app = application(metastores(f"thrift://127.0.0.1:{site[0]}", 30))
    refused = TestClient(app, base_url="http://localhost", client=NEAR).get("/", headers=bearer(site[1]))
    assert (refused.status_code, "thrift://" in refused.text) == (400, True)


@pytest.mark.parametrize("variable", ["HMSTATS__METASTORE_PRINCIPAL", "HMSTATS__CLIENT_CERTIFICATE"])
def test_an_identity_of_the_process_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "own")
    with pytest.raises(SettingsError, match=variable):
        metastores("thrift://127.0.0.1:1", 1)


def test_with_a_certificate_of_the_process_everybody_proves_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMSTATS__CLIENT_CERTIFICATE", "own.pem")
    app = application(metastores("https://127.0.0.1:1", 1))
    assert TestClient(app, base_url="http://localhost").get("/").status_code == 401

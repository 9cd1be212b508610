"""Which calls to several upstreams are sent without a thread, and to which one."""

from typing import Any

import pytest
from tests.server.requests import request

from hmstats.gateway.places import routing
from hmstats.gateway.places.places import Places
from hmstats.gateway.places.routing import Pattern, Routing
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.routes import OWN, Route
from hmstats.wire.idl import hive_metastore as api


class Stored:
    """Routes of databases that were moved."""

    def __init__(self, **places: str) -> None:
        self._routes = {DatabaseName("hive", name): Route(place) for name, place in places.items()}
        self.reads = 0

    def read(self) -> dict[DatabaseName, Route]:
        self.reads += 1
        return self._routes


class Upstream:
    """An upstream to which each call is sent at once."""

    connections, threads = 4, 3

    def __init__(self) -> None:
        self.gateway = self
        self.sent: list[str] = []

    def send_at_once(self, request: Request, session: Session) -> object:
        self.sent.append(request.head.name)
        return self


class Two:
    """Places with two upstreams, of which the second has the databases b*; database own_d was moved to hmstats."""

    def __init__(self) -> None:
        self.stored = Stored(own_d=OWN)
        self.first, self.second = Upstream(), Upstream()
        upstreams: Any = {"first": self.first, "second": self.second}
        routes = Routing(self.stored, [Pattern("b*", "second")], "first")  # type: ignore[arg-type]
        self.places = Places(upstreams, routes)

    def sent(self, method: str, **arguments: Any) -> bool:
        """Whether a call is sent."""
        asked = Request.of(request(method, **arguments))
        return self.places.send_at_once(asked, Session(connection_id=1, peer="here:1")) is not None


@pytest.fixture
def two() -> Two:
    made = Two()
    made.places.routing.route(DatabaseName("hive", "any"))
    return made


def test_each_call_goes_to_the_upstream_of_its_database(two: Two) -> None:
    assert two.sent("get_database", name="a_d")
    assert two.sent("get_table", dbname="b_d", tbl_name="t")
    assert two.sent("get_config_value", name="hive.x", defaultValue="")
    assert (two.first.sent, two.second.sent) == (["get_database", "get_config_value"], ["get_table"])


def test_late_calls_take_no_thread_from_another_upstream(two: Two) -> None:
    """Each upstream may have a thread for each of its connections."""
    assert two.places.threads == 8


def test_lists_of_all_places_and_calls_about_own_tables_are_left_to_threads(two: Two) -> None:
    assert not two.sent("get_all_databases")
    assert not two.sent("get_database", name="own_d")
    assert not two.first.sent + two.second.sent


def test_a_call_that_will_be_refused_is_left_to_a_thread(two: Two) -> None:
    of_two = {"parent_db_name": "a_d", "parent_tbl_name": "t", "foreign_db_name": "b_d"}
    assert not two.sent("get_foreign_keys", request=api.ForeignKeysRequest(**of_two))


def test_routes_that_must_be_read_anew_are_read_by_a_thread(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "LEASE_SECONDS", 0.0)
    reads = two.stored.reads
    assert not two.sent("get_database", name="a_d")
    assert two.stored.reads == reads
    monkeypatch.undo()
    assert two.sent("get_database", name="a_d")

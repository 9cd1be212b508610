"""Pages of health of places of which one lists tables that belong elsewhere."""

from typing import Any

import pytest
from tests.server.requests import request

from hmstats.gateway.places.all_places import AllPlaces
from hmstats.gateway.places.health_pages import HEALTH_LIST, health_page
from hmstats.gateway.upstream.calling import value_of
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.service.mirrors.routes import OWN
from hmstats.wire.idl import extension, methods
from hmstats.wire.messages.envelope import encode_reply

TABLES = {
    "first": [(10, "elsewhere"), (20, "elsewhere"), (30, "first"), (35, "elsewhere"), (45, "first")],
    OWN: [(25, "own"), (40, "own"), (50, "own")],
}


def ask(place: str, asked: Request) -> Relayed:
    """A place's page; its cursor is the number of tables before it."""
    wanted = decode_arguments(methods()[HEALTH_LIST], asked.message, asked.head.body_at)["request"]
    start = int(wanted.after or 0)
    end = start + wanted.most
    some = [
        extension.StatisticsHealth(
            dbName=database,
            tblName="t",
            catName="hive",
            health=health,
            reason="age",
            movedRows=0,
            marked=True,
            numColumns=1,
            analyzedColumns=1,
        )
        for health, database in TABLES[place][start:end]
    ]
    following = str(end) if end < len(TABLES[place]) else None
    found = extension.HealthResult(health=some, nextPage=following, complete=True)
    return Relayed((encode_reply(asked.head, encode_struct(methods()[HEALTH_LIST].result(success=found))),))


PLACES = AllPlaces(("first", OWN), ask, lambda name: OWN if name.database == "own" else name.database, lambda _: False)


@pytest.mark.parametrize("most", range(1, 9))
def test_all_come_once_from_the_worst(most: int) -> None:
    found: list[int] = []
    after: str | None = None
    for _ in range(20):
        wanted = extension.HealthRequest(after=after, most=most)
        page: Any = value_of(HEALTH_LIST, health_page(Request.of(request(HEALTH_LIST, request=wanted)), PLACES))
        assert len(page.health) <= most
        found += [each.health for each in page.health]
        if (after := page.nextPage) is None:
            break
    assert after is None
    assert found == [25, 30, 40, 45, 50]

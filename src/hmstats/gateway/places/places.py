"""Sends each call to a place: the one that has the database which the call names."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from hmstats.errors import MetaError
from hmstats.gateway.gateway import Gateway
from hmstats.gateway.places.all_places import AllPlaces, title_of
from hmstats.gateway.places.call_databases import databases_of
from hmstats.gateway.places.catalogs import CATALOG, find_catalog
from hmstats.gateway.places.health_pages import HEALTH_LIST, health_page
from hmstats.gateway.places.routing import Routing
from hmstats.gateway.places.slots import Slots
from hmstats.gateway.places.spread import SPREAD, spread
from hmstats.gateway.places.unions import UNIONS, union
from hmstats.gateway.statistics.statistics_calls import OF_OBJECTS, OURS_ALONE, RECORDS
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.calls import ANSWERED_HERE
from hmstats.gateway.upstream.sent_call import SentCall
from hmstats.model.catalog.names import database_text
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.calls.call_kinds import READS
from hmstats.server.calls.relaying import Here, Relayed, Stream
from hmstats.server.chores import Chore
from hmstats.server.messages.request import Request
from hmstats.server.rpc.caller import Session
from hmstats.service.mirrors.routes import OWN, Route
from hmstats.store.database.store import Store

_OURS = RECORDS | OURS_ALONE | OF_OBJECTS
"""Calls that only hmstats knows: those that name no database are about hmstats' own tables."""
_OF_SEVERAL: Mapping[str, Callable[[Request, AllPlaces], Relayed]] = {
    **dict.fromkeys(UNIONS, union),
    **dict.fromkeys(SPREAD, spread),
    HEALTH_LIST: health_page,
    CATALOG: find_catalog,
}
"""The functions that answer calls about databases of several places."""


class UpstreamPlace:
    """One of several upstreams: its gateway, and `here`, which answers calls from the store kept for this upstream."""

    def __init__(
        self,
        name: str,
        gateway: Gateway,
        store: Store,
        here: Callable[[Request, Session], Relayed],
        chores: Sequence[Chore] = (),
    ) -> None:
        self.gateway = gateway
        self._store = store
        self._slots = Slots(name, gateway.threads)
        self.chores = [*chores, *gateway.chores]
        self._here = here

    def close(self) -> None:
        """Close all connections to the upstream and to the store."""
        self.gateway.close()
        self._store.close()

    def answer(self, request: Request, session: Session, stream: Stream) -> Relayed:
        """The answer to a call. Raises as Gateway.answer does."""
        if not self.gateway.takes(request.head.name):
            return self._here(request, session)

        def here(changed: Request | None = None) -> Relayed:
            return self._here(changed or request, session)

        with nullcontext() if self.gateway.is_hanging else self._slots.take():
            return self.gateway.answer(request, session, stream, here)


class Places:
    """Sends calls to upstreams and to hmstats' own tables. Thread-safe."""

    has_own_tables = True
    prompt = None

    def __init__(self, upstreams: Mapping[str, UpstreamPlace], routing: Routing) -> None:
        self.upstreams = upstreams
        self.routing = routing
        # Late calls of `send_at_once` get threads beyond those with slots, so that they take none from other upstreams.
        self.threads = sum(each.gateway.connections for each in upstreams.values())

    def takes(self, name: str) -> bool:
        """Whether a call may need an upstream: false for those about the connection."""
        return name not in ANSWERED_HERE

    def answer(self, request: Request, session: Session, stream: Stream, here: Here) -> Relayed:
        """The answer to a call, from the place that it belongs to; `here` answers from hmstats' own tables.

        Raises UpstreamUnavailable, MetaError; UpstreamClosed and ClientGone, after which the connection ends.
        """
        if _is_of_several(request):
            return _OF_SEVERAL[request.head.name](request, self._all_places(session, here))
        place = self._place_of(request, self.routing.route)
        return here() if place == OWN else self.upstreams[place].answer(request, session, stream)

    def send_at_once(self, request: Request, session: Session) -> SentCall | None:
        """Send a small read that its upstream alone answers, without waiting; None if it was not sent."""
        if request.head.name in _OF_SEVERAL:
            return None
        try:
            place = self._place_of(request, self.routing.known_route)
        except MetaError:  # a thread reads the routes, or returns the reason of the refusal
            return None
        return None if place == OWN else self.upstreams[place].gateway.send_at_once(request, session)

    @property
    def chores(self) -> Sequence[Chore]:
        """The functions to be run from time to time."""
        named = [(name, chore) for name, each in self.upstreams.items() for chore in each.chores]
        return [replace(chore, name=f"{chore.name}-{name}") for name, chore in named]

    def leave(self, session: Session) -> None:
        """Forget a client whose connection has ended."""
        for each in self.upstreams.values():
            each.gateway.leave(session)

    def close(self) -> None:
        """Close all connections."""
        for each in self.upstreams.values():
            each.close()

    def _place_of(self, request: Request, route: Callable[[DatabaseName], Route]) -> str:
        """The place of a call. Raises as `route` does, and MetaError if the call must not be carried out now."""
        name = request.head.name
        databases = databases_of(request)
        if not databases:
            return OWN if name in _OURS else self.routing.default
        routes = {each: route(each) for each in databases}
        places = {each.place for each in routes.values()}
        if len(places) > 1:
            there = ", ".join(f"{database_text(each)} in {title_of(found.place)}" for each, found in routes.items())
            raise MetaError(f"{name} is refused: its databases must be in one metastore, found {there}")
        moving = [each for each, found in routes.items() if found.moving]
        if moving and name not in READS:
            raise MetaError(
                f"{name} is refused: database {database_text(moving[0])} must not be changed while it is moved; try "
                "again later"
            )
        return places.pop()

    def _all_places(self, session: Session, here: Here) -> AllPlaces:
        """All places, as they are asked for a client."""

        def ask(place: str, request: Request) -> Relayed:
            return here(request) if place == OWN else self._ask_place(place, request, session)

        upstreams = sorted(self.upstreams, key=lambda name: name != self.routing.default)
        return AllPlaces((*upstreams, OWN), ask, lambda name: self.routing.route(name).place, self._hangs)

    def _ask_place(self, name: str, request: Request, session: Session) -> Relayed:
        return self.upstreams[name].answer(request, session, WholeAnswer())

    def _hangs(self, name: str) -> bool:
        return name != OWN and self.upstreams[name].gateway.is_hanging


def _is_of_several(request: Request) -> bool:
    """Whether a call is about databases of several places."""
    name = request.head.name
    return name in _OF_SEVERAL and not (name in OF_OBJECTS and databases_of(request))

"""Lists of health: each page takes entries of all places, so that together they are the worst ones.

The cursor of all places is a JSON object: for each place that has more entries, the place's own cursor, which is empty
at its beginning.
"""

import json
from collections.abc import Mapping, Sequence
from heapq import merge
from typing import Any

from hmstats.errors import InvalidInput
from hmstats.gateway.places.all_places import AllPlaces, own_refusal, value_at
from hmstats.gateway.upstream.calling import with_arguments
from hmstats.model.catalog.names import database_name
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.service.health.listing import MOST
from hmstats.service.mirrors.routes import OWN
from hmstats.wire.idl import extension, methods
from hmstats.wire.messages.envelope import encode_reply

HEALTH_LIST = "get_statistics_health"


def health_page(request: Request, places: AllPlaces) -> Relayed:
    """The answer to a call of HEALTH_LIST, merged from the places' answers.

    Raises MetaError if a place does not answer, InvalidInput for a cursor that no page returned.
    """
    asked = decode_arguments(methods()[HEALTH_LIST], request.message, request.head.body_at)["request"]
    if asked is None:
        return places.ask(OWN, request)  # which answers that the request is missing
    cursors = _cursors(asked.after, places.names)
    answers = places.answers({place: _page_request(request, asked, cursors[place], asked.most) for place in cursors})
    if (refused := own_refusal(answers)) is not None:
        return refused
    pages = {place: value_at(place, HEALTH_LIST, answers[place]) for place in cursors}
    taken = _count_taken(pages, places, asked.most or MOST)
    # A cursor stands for the end of a page: where only some entries are taken, a page that ends there is requested.
    cut = {place: number for place, number in taken.items() if 0 < number < len(pages[place].health)}
    answers = (
        places.answers({place: _page_request(request, asked, cursors[place], cut[place]) for place in cut})
        if cut
        else {}
    )
    pages |= {place: value_at(place, HEALTH_LIST, answers[place]) for place in cut}
    found = merge(
        *(_entries_of_place(pages[place], place, places) for place, number in taken.items() if number), key=_health
    )
    result = extension.HealthResult(
        health=list(found),
        nextPage=_next_cursor(pages, taken, cursors),
        complete=all(page.complete for page in pages.values()),
    )
    return Relayed((encode_reply(request.head, encode_struct(methods()[HEALTH_LIST].result(success=result))),))


def _next_cursor(pages: Mapping[str, Any], taken: Mapping[str, int], cursors: Mapping[str, str]) -> str | None:
    """The cursor after these pages; None at the end. A page from which nothing was taken is requested again."""
    again = {place for place, page in pages.items() if page.health and not taken[place]}
    next_pages = {place: cursors[place] if place in again else page.nextPage for place, page in pages.items()}
    left = {place: cursor for place, cursor in next_pages.items() if cursor is not None}
    return json.dumps(left) if left else None


def _cursors(text: str | None, names: Sequence[str]) -> dict[str, str]:
    """The cursor of each place that has more entries. Raises InvalidInput."""
    if not text:
        return dict.fromkeys(names, "")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    texts = isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
    if not texts or not found or not found.keys() <= set(names):
        raise InvalidInput(f"a page of health begins after the text `nextPage` of the page before, found {text[:64]}")
    return {place: found[place] for place in names if place in found}


def _page_request(request: Request, asked: Any, cursor: str, most: int | None) -> Request:
    """The call for one page of one place."""
    return with_arguments(
        request, request=extension.HealthRequest(**{**vars(asked), "after": cursor or None, "most": most})
    )


def _count_taken(pages: Mapping[str, Any], places: AllPlaces, most: int) -> dict[str, int]:
    """How many entries of each page are used: they are among the worst, or are skipped as their database is elsewhere.

    Counting stops at the end of the first page whose place has more entries, since those may be worse than the entries
    of other places.
    """
    ordered = merge(
        *([(each.health, place, n + 1) for n, each in enumerate(page.health)] for place, page in pages.items()),
        key=lambda entry: entry[0],
    )
    taken, left = dict.fromkeys(pages, 0), most
    for _, place, number in ordered:
        page = pages[place]
        taken[place] = number
        left -= _is_of(page.health[number - 1], place, places)
        if left == 0 or (number == len(page.health) and page.nextPage is not None):
            break
    return taken


def _entries_of_place(page: Any, place: str, places: AllPlaces) -> list[Any]:
    return [each for each in page.health if _is_of(each, place, places)]


def _is_of(each: Any, place: str, places: AllPlaces) -> bool:
    return places.place_of(database_name(each.dbName, each.catName)) == place


def _health(each: Any) -> int:
    return int(each.health)

"""Spreads calls of our own over several places: each gets the part about its tables, or all get the same call."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from hmstats.gateway.places.all_places import AllPlaces, own_refusal, value_at
from hmstats.gateway.upstream.calling import with_arguments
from hmstats.model.catalog.names import database_name
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import decode_arguments, encode_struct
from hmstats.service.mirrors.routes import OWN
from hmstats.wire.idl import extension, methods
from hmstats.wire.messages.envelope import encode_reply


def spread(request: Request, places: AllPlaces) -> Relayed:
    """The answer to a call of SPREAD, combined from all places; a refusal by hmstats' own tables is returned as it is.

    Raises MetaError if a place does not carry out its part. The call can be repeated then.
    """
    head = request.head
    asked = decode_arguments(methods()[head.name], request.message, head.body_at)["request"]
    if asked is None:
        return places.ask(OWN, request)  # which answers that the request is missing
    requests = _PARTS[head.name](request, asked, places)
    answers = places.answers(requests)
    if (refused := own_refusal(answers)) is not None:
        return refused
    values = {place: value_at(place, head.name, answers[place]) for place in requests}
    result = methods()[head.name].result(success=_VALUES[head.name](values))
    return Relayed((encode_reply(head, encode_struct(result)),))


def _of_each_table(request: Request, asked: Any, places: AllPlaces) -> Mapping[str, Request]:
    """The blame entries by place; hmstats' own tables always get a part."""
    parts: dict[str, list[Any]] = defaultdict(list)
    for each in asked.blame or ():
        named = each is not None and isinstance(each.dbName, str)  # our own tables refuse an entry without a name
        parts[places.place_of(database_name(each.dbName, each.catName)) if named else OWN].append(each)
    return {
        place: with_arguments(request, request=extension.BlameRecords(blame=parts[place]))
        for place in places.names
        if parts[place] or place == OWN
    }


def _to_all(request: Request, _: Any, places: AllPlaces) -> Mapping[str, Request]:
    return dict.fromkeys(places.names, request)


_PARTS: Mapping[str, Callable[[Request, Any, AllPlaces], Mapping[str, Request]]] = {
    "record_blame": _of_each_table,
    "change_preferences": _to_all,
}
_VALUES: Mapping[str, Callable[[Mapping[str, int]], int]] = {
    "record_blame": lambda values: sum(values.values()),
    "change_preferences": lambda values: max(values.values()),
}
SPREAD = frozenset(_PARTS)
"""The calls about tables of several places, or about everything."""

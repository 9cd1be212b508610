"""Finds a catalog by its name: any place may have it, just as the list of catalogs has those of all places."""

from hmstats.gateway.places.all_places import AllPlaces, value_at
from hmstats.gateway.places.asking import Answer
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request

CATALOG = "get_catalog"
"""The call for one catalog."""


def find_catalog(request: Request, places: AllPlaces) -> Relayed:
    """The answer of the first place that has the catalog; if none has it, that of the first place.

    Raises MetaError if a place that may have the catalog does not answer.
    """
    answers: dict[str, Answer] = {}
    for place in places.names:
        answers |= places.answers({place: request})
        answer = answers[place]
        if isinstance(answer, Relayed) and not answer.refused:
            return answer
    refused: list[Relayed] = []
    for place, answer in answers.items():
        if isinstance(answer, Relayed):
            refused.append(answer)
        else:
            value_at(place, CATALOG, answer)  # raises the error that the place answered with
    return refused[0]

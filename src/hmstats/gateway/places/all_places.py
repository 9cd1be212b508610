"""All places together, for a call that is about databases of several."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hmstats.errors import CallRefused, MetaError, MetastoreError, UnknownCall, UpstreamClosed
from hmstats.gateway.places.asking import Answer, ask_all
from hmstats.gateway.upstream.calling import value_of
from hmstats.model.catalog.objects import DatabaseName
from hmstats.server.calls.relaying import Relayed
from hmstats.server.messages.request import Request
from hmstats.service.mirrors.routes import OWN


@dataclass(frozen=True, slots=True)
class AllPlaces:
    """The names of the places, hmstats' own tables last, and how each is asked.

    `place_of` gives the place of a database, `hangs` says whether a place does not answer and must not be waited for.
    """

    names: Sequence[str]
    ask: Callable[[str, Request], Relayed]
    place_of: Callable[[DatabaseName], str]
    hangs: Callable[[str], bool]

    def answers(self, requests: Mapping[str, Request]) -> dict[str, Answer]:
        """The answer of each place to its request, or the error that the request ended with."""
        return ask_all({place: partial(self.ask, place, request) for place, request in requests.items()}, self.hangs)


def own_refusal(answers: Mapping[str, Answer]) -> Relayed | None:
    """The refusal by hmstats' own tables, which any other place would give too; None if they did not refuse."""
    own = answers.get(OWN)
    return own if isinstance(own, Relayed) and own.refused else None


def value_at(place: str, method: str, answer: Answer) -> Any:
    """The value in a place's answer. Raises UnknownCall, and a MetaError that names the place if there is no value."""
    try:
        if isinstance(answer, Exception):
            raise answer
        return value_of(method, answer)
    except UnknownCall:
        raise
    except CallRefused as error:
        raise MetaError(f"{method} is refused by {title_of(place)}: {error}") from error
    except (MetastoreError, UpstreamClosed) as error:
        raise MetaError(f"{method} is refused, since {title_of(place)} does not answer: {error}") from error


def title_of(place: str) -> str:
    """The place's name, for a sentence."""
    return "hmstats itself" if place == OWN else f"upstream {place}"

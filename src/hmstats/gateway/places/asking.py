"""Asks several places in parallel: the wait ends with the slowest place, and no place that hangs is waited for."""

import queue
import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context

from hmstats.errors import UpstreamUnavailable
from hmstats.server.calls.relaying import Relayed

Ask = Callable[[], Relayed]
Answer = Relayed | Exception
_LOOK_SECONDS = 0.25
"""How often a place that has not answered is checked for hanging."""


def ask_all(asks: Mapping[str, Ask], hangs: Callable[[str], bool]) -> dict[str, Answer]:
    """The answer of each place by its name, or the error that the request ended with.

    A place that `hangs` reports is not waited for. The last place is asked in this thread, the others in threads of
    their own, which end with their calls.
    """
    *others, here = asks
    answers: dict[str, Answer] = {}
    arrived: queue.SimpleQueue[tuple[str, Answer]] = queue.SimpleQueue()

    def run(place: str) -> None:
        arrived.put((place, _outcome(asks[place])))

    for place in others:
        context = copy_context()
        threading.Thread(target=context.run, args=(run, place), name=f"hmstats-ask-{place}", daemon=True).start()
    answers[here] = _outcome(asks[here])
    while len(answers) < len(asks):
        try:
            place, answer = arrived.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            for place in others:
                if place not in answers and hangs(place):
                    answers[place] = UpstreamUnavailable("it takes connections and answers nothing; try again later")
        else:
            answers[place] = answer
    return answers


def _outcome(ask: Ask) -> Answer:
    try:
        return ask()
    except Exception as error:  # noqa: BLE001 - raised again where the answer is wanted
        return error

import threading

import pytest

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.places.asking import ask_all
from hmstats.server.calls.relaying import Relayed
from hmstats.store.history.caller import Caller, caller


def test_places_are_asked_side_by_side() -> None:
    together = threading.Barrier(3)

    def ask() -> Relayed:
        together.wait(20)
        return Relayed((b"x",))

    found = ask_all({"a": ask, "b": ask, "": ask}, lambda _: False)
    assert found == {each: Relayed((b"x",)) for each in ("a", "b", "")}


def test_an_error_of_a_place_is_its_answer() -> None:
    error = UpstreamUnavailable("away")

    def fail() -> Relayed:
        raise error

    assert ask_all({"a": fail, "": lambda: Relayed(())}, lambda _: False) == {"a": error, "": Relayed(())}


def test_a_place_that_begins_to_hang_is_not_waited_for() -> None:
    let_go, hangs = threading.Event(), threading.Event()

    def ask() -> Relayed:
        hangs.set()
        let_go.wait(60)
        return Relayed(())

    found = ask_all({"a": ask, "": lambda: Relayed(())}, lambda place: place == "a" and hangs.is_set())
    let_go.set()
    assert found[""] == Relayed(())
    with pytest.raises(UpstreamUnavailable, match="answers nothing"):
        raise found["a"]  # type: ignore[misc]


def test_a_place_knows_who_asks() -> None:
    caller.set(Caller("anna", "get_all_databases"))
    seen: list[object] = []

    def ask() -> Relayed:
        seen.append(caller.get())
        return Relayed(())

    ask_all({"a": ask, "": lambda: Relayed(())}, lambda _: False)
    assert seen == [Caller("anna", "get_all_databases")]

from hmstats.gateway.upstream.calls import ANSWERED_HERE, BINDS, SENT_TWICE
from hmstats.server.calls.call_kinds import CHANGES, OF_THE_SESSION
from hmstats.wire.idl import methods


def test_nothing_that_changes_something_is_sent_twice() -> None:
    assert not SENT_TWICE & (CHANGES | OF_THE_SESSION)
    assert "get_lock_materialization_rebuild" not in SENT_TWICE


def test_calls_that_are_answered_here_are_calls_of_the_api() -> None:
    assert {*ANSWERED_HERE, BINDS} <= set(methods())
    assert "shutdown" in ANSWERED_HERE
    assert BINDS not in ANSWERED_HERE

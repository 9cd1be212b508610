"""Answers about tables that a gateway keeps while its upstream's log proves them."""

from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

import pytest
from tests.gateway.statistics.test_proven import Log
from tests.server.requests import ReplyReader, encoded, request

from hmstats.errors import UpstreamUnavailable
from hmstats.gateway.catalog import kept_answers
from hmstats.gateway.catalog.kept_answers import KEPT, KeptAnswers
from hmstats.gateway.upstream.calling import WholeAnswer
from hmstats.gateway.upstream.connection import User
from hmstats.gateway.upstream.notification_log import NotificationLog
from hmstats.server.calls.call_kinds import READS
from hmstats.server.calls.relaying import Relayed, Stream
from hmstats.server.messages.request import Request
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import Pieces, encode_reply, read_head

ANNA, BEN = User("anna"), User("ben")
NO_TEXT = b"\xff\xfe"
"""A name that is no UTF-8, which an upstream may answer nevertheless."""


class Upstream:
    """An upstream that answers a name each time, with the number of the question."""

    def __init__(self, most_bytes: int = 100_000, *, alone: bool = True) -> None:
        self.log = Log()
        self.log.add("CREATE_TABLE", "other")
        self.kept = KeptAnswers(NotificationLog(), most_bytes, "upstream", lambda _: alone)
        self.asked = 0
        self.more: list[str] = []

    def ask(
        self,
        name: str = "get_partition_names",
        *,
        user: User = ANNA,
        sequence: int = 5,
        parts: "Parts | None" = None,
        **changed: Any,
    ) -> Any:
        """The answer to a question about table d.t, through what is kept; to `parts` it comes in parts."""
        given = {"db_name": "d", "tbl_name": "t", "max_parts": -1, **changed}
        message = request(name, sequence, **given)
        head = read_head(message)
        assert head is not None

        def relay(stream: Stream) -> Relayed:
            self.asked += 1
            reply = encode_reply(head, encoded(methods()[name].result(success=[str(self.asked), *self.more])))
            if not stream.possible:
                return Relayed((reply,))
            stream.send((reply[:40], reply[40:50]))
            stream.send((reply[50:60],))
            return Relayed((reply[60:],))

        stream: Any = parts or WholeAnswer()
        answered = self.kept.answer(self.log, user, Request(message, head), stream, relay)  # type: ignore[arg-type]
        sent = parts.taken() if parts else b""
        reply = ReplyReader(BytesIO(sent + b"".join(answered.rest))).next()
        assert reply.sequence == sequence
        return reply.value[0]


class Parts:
    """The way to a client that takes a reply in parts."""

    possible = True
    begun = False
    abandoned = False

    def __init__(self) -> None:
        self._sent = b""

    def send(self, pieces: Pieces) -> None:
        self.begun = True
        self._sent += b"".join(pieces)

    def taken(self) -> bytes:
        """What was sent since this was last asked."""
        sent, self._sent = self._sent, b""
        return sent


def test_an_answer_is_kept_until_its_table_changes() -> None:
    upstream = Upstream()
    assert [upstream.ask(sequence=each) for each in range(1, 4)] == ["1", "1", "1"]
    upstream.log.add("ADD_PARTITION", "another")
    assert upstream.ask() == "1"
    upstream.log.add("ADD_PARTITION", "t")
    assert [upstream.ask(), upstream.ask()] == ["2", "2"]


def test_other_questions_and_other_users_have_answers_of_their_own() -> None:
    upstream = Upstream()
    assert [upstream.ask(), upstream.ask(max_parts=1), upstream.ask(user=BEN), upstream.ask()] == ["1", "2", "3", "1"]


CHANGES: list[Callable[[Log], None]] = [
    lambda log: log.add("DROP_DATABASE", None),
    lambda log: log.add("ALTER_TABLE", "new", message="nobody can read this"),
    lambda log: log.events.append(type(log.events[0])(**{**vars(log.events[0]), "eventId": 9})),
]


@pytest.mark.parametrize("change", CHANGES)
def test_no_answer_is_kept_beyond_what_is_not_understood(change: Callable[[Log], None]) -> None:
    upstream = Upstream()
    upstream.ask()
    change(upstream.log)
    assert upstream.ask() == "2"


def test_what_changes_while_a_question_is_answered_is_not_hidden() -> None:
    """The answer is as of before its question, so that an event in the middle ends it."""
    upstream = Upstream()
    plain = upstream.log.call

    def call(name: str, *arguments: Any) -> Any:
        found = plain(name, *arguments)
        if name == "get_current_notificationEventId" and upstream.asked == 0:
            upstream.log.add("DROP_PARTITION", "t")
        return found

    upstream.log.call = call  # type: ignore[method-assign]
    assert [upstream.ask(), upstream.ask(), upstream.ask()] == ["1", "2", "2"]


def test_an_answer_is_kept_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_answers, "SECONDS", 0.0)
    upstream = Upstream()
    assert [upstream.ask(), upstream.ask()] == ["1", "2"]


def test_so_many_bytes_are_kept() -> None:
    upstream = Upstream(most_bytes=1_500)
    assert [upstream.ask(max_parts=each) for each in (1, 2, 3, 4)] == ["1", "2", "3", "4"]
    assert [upstream.ask(max_parts=4), upstream.ask(max_parts=1)] == ["4", "5"]
    assert upstream.kept._bytes <= 1_500
    assert [Upstream(most_bytes=0).ask(), upstream.log.asked.count("get_next_notification")] == ["1", 0]


@pytest.mark.parametrize("more", ["x" * 1_000_001, "MATERIALIZED_VIEW"])
def test_large_answers_and_materialized_views_are_not_kept(more: str) -> None:
    upstream = Upstream(most_bytes=10_000_000)
    upstream.more = [more]
    assert [upstream.ask(), upstream.ask()] == ["1", "2"]


@pytest.mark.parametrize(("more", "answers"), [("x", ["1", "1", "1"]), ("x" * 1_000_001, ["1", "2", "3"])])
def test_an_answer_that_goes_on_in_parts_is_kept_unless_it_is_large(more: str, answers: list[str]) -> None:
    upstream = Upstream(most_bytes=10_000_000)
    upstream.more = [more]
    parts = Parts()
    assert [upstream.ask(parts=parts), upstream.ask(parts=parts), upstream.ask()] == answers
    assert parts.begun


def test_while_the_upstream_is_away_nothing_is_answered_from_what_is_kept() -> None:
    upstream = Upstream()
    upstream.ask()

    def call(name: str, *arguments: Any) -> Any:
        raise UpstreamUnavailable("away")

    upstream.log.call = call  # type: ignore[method-assign]
    assert upstream.ask() == "2"


def test_only_reads_are_kept_and_none_that_tells_of_privileges() -> None:
    assert KEPT <= READS
    assert not [each for each in KEPT if "auth" in each or "privilege" in each]


def key(user: User = ANNA) -> tuple[User, str, bytes]:
    """The key of the question that Upstream asks."""
    message = request("get_partition_names", 5, db_name="d", tbl_name="t", max_parts=-1)
    head = read_head(message)
    assert head is not None
    return user, head.name, message[head.body_at :]


def test_an_answer_is_told_with_the_number_that_proves_it() -> None:
    upstream = Upstream()
    assert upstream.kept.find_read(key()) is None
    upstream.ask()
    upstream.log.add("ADD_PARTITION", "another")
    upstream.ask(max_parts=1)  # reads the log
    found = upstream.kept.find_read(key())
    assert found is not None
    assert found.number == 2
    assert upstream.kept.find_read(key(BEN)) is None
    upstream.log.add("ADD_PARTITION", "t")
    upstream.ask(max_parts=1)
    assert upstream.kept.find_read(key()) is None


def test_an_answer_is_not_told_if_it_is_too_old_or_something_in_it_may_be_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that could not look for statistics has relayed the call; then they may be here without an event."""
    upstream = Upstream(alone=False)
    assert [upstream.ask(), upstream.ask(), upstream.kept.find_read(key())] == ["1", "1", None]
    other = Upstream()
    other.ask()
    monkeypatch.setattr(kept_answers, "SECONDS", 0.0)
    assert other.kept.find_read(key()) is None


def test_no_answer_is_told_while_the_log_is_read() -> None:
    """Whoever asks must not wait for the upstream."""
    upstream = Upstream()
    upstream.ask()
    plain = upstream.log.call
    told = []

    def call(name: str, *arguments: Any) -> Any:
        if name == "get_next_notification":
            told.append(upstream.kept.find_read(key()))
        return plain(name, *arguments)

    upstream.log.call = call  # type: ignore[method-assign]
    upstream.log.add("ADD_PARTITION", "another")
    upstream.ask()
    assert told == [None]
    assert upstream.kept.find_read(key()) is not None


def test_an_answer_to_what_the_gateway_cannot_read_passes() -> None:
    upstream = Upstream()
    marked = request("get_partition_names", 5, db_name="d", tbl_name="xx", max_parts=-1).replace(b"xx", NO_TEXT)
    head = read_head(marked)
    assert head is not None
    reply, calls, stream = b"whatever it is", cast("Any", upstream.log), cast("Any", WholeAnswer())
    answered = upstream.kept.answer(calls, ANNA, Request(marked, head), stream, lambda _: Relayed((reply,)))
    assert b"".join(answered.rest) == reply

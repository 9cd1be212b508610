"""Kept answers that the selector's thread gives itself: checked together, never stale, else left to workers."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest
from prometheus_client import REGISTRY
from tests.server.requests import Reply, request
from tests.server.serving import PATIENCE_SECONDS, Client, Gate, echo

from hmstats.errors import StoreUnavailable
from hmstats.server.cache.cached_answers import AnswerCache, CachedAnswer
from hmstats.server.calls.dispatch import Dispatcher, Session
from hmstats.server.connections import prompt_replies
from hmstats.server.limits import Limits
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.server.server import Server
from hmstats.server.sockets.busy_poll import Ready
from hmstats.store.changes import versions
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods

METHOD = "get_table_column_statistics"
TABLE = 7


class FakeLine:
    """A line whose answers come when the test says so. `lost` makes the next question or answer fail."""

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._here, self._there = socket.socketpair()
        self._answer: Mapping[int, int] = {}
        self.is_running = False
        self.idle_seconds = source.idle_seconds
        self.has_unsent = False
        self.closed = False

    def fileno(self) -> int:
        """Readable once an answer has come."""
        return self._here.fileno()

    def send_query(self, table_ids: Collection[int]) -> None:
        """Notes the question; the answer is of this moment."""
        if self._source.lost:
            raise StoreUnavailable("gone")
        self.is_running = True
        self._source.questions.append(set(table_ids))
        self._answer = dict(self._source.numbers)
        if self._source.prompt:
            self.answer()

    def answer(self) -> None:
        """Have the answer come."""
        self._there.send(b"!")

    def receive(self) -> Mapping[int, int] | None:
        """What was true when it was asked."""
        self._here.recv(1)
        if self._source.lost:
            raise StoreUnavailable("gone")
        self.is_running = False
        return self._answer

    def close(self) -> None:
        """Note it."""
        self.closed = True
        self._here.close()
        self._there.close()


class Source:
    """The versions of tables, and a call that depends on them and says how often it ran."""

    def __init__(self) -> None:
        self.numbers = {TABLE: 1}
        self.known: Mapping[int, int] | None = None
        self.questions: list[set[int]] = []
        self.lines: list[FakeLine] = []
        self.prompt = True
        self.idle_seconds: float | None = None
        self.lost = False
        self.runs = 0
        self.checks = 0
        self.gate = Gate()
        self.name_characters = 0
        self.server: Server | None = None

    def cached_versions(self, table_ids: Collection[int]) -> Mapping[int, int] | None:
        """What the test says."""
        return self.known

    def version_line(self) -> FakeLine | None:
        """A new one."""
        self.lines.append(FakeLine(self))
        return self.lines[-1]

    def current(self, table_ids: Collection[int]) -> Mapping[int, int]:
        """What a worker finds out."""
        self.checks += 1
        return {each: self.numbers[each] for each in table_ids}

    def call(self, session: Session, db_name: str, tbl_name: str, col_name: str) -> object:
        """Statistics under a name that says which run they are of."""
        self.runs += 1
        versions.note_read(TABLE, self.numbers[TABLE])
        name = f"run{self.runs}".ljust(self.name_characters)
        description = api.ColumnStatisticsDesc(isTblLevel=True, dbName=db_name, tableName=name)
        return api.ColumnStatistics(statsDesc=description, statsObj=[])


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    """Answers at once; a lost line is opened again at once."""
    monkeypatch.setattr(prompt_replies, "_PAUSE_SECONDS", 0.0)
    return Source()


@contextlib.contextmanager
def serving(
    source: Source,
    limits: Limits | None = None,
    ready: Callable[[bytes, int], CachedAnswer | None] = lambda *_: None,
    answers_bytes: int = 10_000,
) -> Iterator[tuple[str, int]]:
    """A server of that source."""
    calls: dict[str, Callable[..., object]] = {METHOD: source.call, "getOption": echo, "get_all_databases": source.gate}
    dispatcher = Dispatcher(methods(), calls, AnswerCache(source.current, answers_bytes), ready={METHOD: ready})
    server = source.server = Server(("127.0.0.1", 0), dispatcher, limits, versions=source)
    try:
        yield server.start()
    finally:
        server.stop(0)


def question(column: str = "c", sequence: int = 1) -> bytes:
    return request(METHOD, sequence, db_name="d", tbl_name="t", col_name=column)


def ask(client: Client, column: str = "c", sequence: int = 1) -> str:
    """Which run answered."""
    client.send(question(column, sequence))
    reply = client.reply()
    assert reply.sequence == sequence
    return run_of(reply)


def run_of(reply: Reply) -> str:
    name: str = reply.value.statsDesc.tableName
    return name


def wait_for_line(source: Source, client: Client) -> None:
    """Ask until a line is open and used."""
    ask(client)
    before = len(source.questions)
    until(lambda: bool(ask(client)) and len(source.questions) > before)


def until(happened: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if happened():
            return
    raise AssertionError("it should have happened by now")


def test_a_repeated_question_is_answered_by_a_check_on_the_line_and_no_worker(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        checks, asked = source.checks, len(source.questions)
        assert [ask(client, sequence=number) for number in (2, 3, 4)] == ["run1"] * 3
        assert (source.runs, source.checks) == (1, checks)
        assert source.questions[asked:] == [{TABLE}] * 3
    assert [each.closed for each in source.lines] == [True]


def test_what_is_put_together_at_once_is_checked_and_kept(source: Source) -> None:
    """A new question about columns that begin with r; another like it is answered by a worker."""
    put_together: list[bytes] = []

    def ready(message: bytes, body_at: int) -> CachedAnswer | None:
        if b"ready" not in message[body_at:]:
            return None
        put_together.append(message)
        called = source.call(Session(1, "127.0.0.1:1"), "d", "t", "ready")
        return CachedAnswer({TABLE: 1}, {TABLE: None}, encode_struct(methods()[METHOD].result(success=called)))

    with serving(source, ready=ready) as address, Client(address) as client:
        wait_for_line(source, client)
        runs, checks, asked = source.runs, source.checks, len(source.questions)
        assert ask(client, "ready") == ask(client, "ready") == f"run{runs + 1}"
        assert (source.runs, source.checks, len(put_together)) == (runs + 1, checks, 1)
        assert source.questions[asked:] == [{TABLE}] * 2
        source.numbers[TABLE] = 2
        assert ask(client, "ready, but changed") == f"run{runs + 3}"
        assert source.checks == checks


def test_what_changed_is_left_to_a_worker(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.numbers[TABLE] = 2
        assert ask(client) == "run2"
        checks = source.checks
        assert ask(client) == "run2"
        assert source.checks == checks


def test_questions_that_come_during_a_check_are_checked_together_after_it(source: Source) -> None:
    with serving(source) as address, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(address)) for _ in range(5)]
        wait_for_line(source, clients[0])
        source.prompt = False
        asked = len(source.questions)
        clients[0].send(question(sequence=10))
        until_waits(source, asked + 1)
        source.numbers[TABLE] = 2  # after the first question was asked, before the others come
        for number, client in enumerate(clients[1:], 11):
            client.send(question(sequence=number))
        (line,) = source.lines
        give_others_time(address)
        line.answer()
        first = clients[0].reply()
        assert (first.sequence, run_of(first)) == (10, "run1")
        until_waits(source, asked + 2)
        line.answer()
        replies = [client.reply() for client in clients[1:]]
        assert [each.sequence for each in replies] == [11, 12, 13, 14]
        assert {run_of(each) for each in replies}.isdisjoint({"run1"})
        assert len(source.questions) == asked + 2


def test_requests_one_behind_the_other_are_answered_in_their_order(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        client.send(b"".join(question(sequence=number) for number in range(20, 40)))
        assert [client.reply().sequence for _ in range(20)] == [*range(20, 40)]


def test_a_known_request_in_pieces_is_taken_up_when_it_is_whole(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        for cut in (1, 4, 12, 40, len(question()) - 1):
            client.send(question(sequence=cut)[:cut])
            give_others_time(address)
            client.send(question(sequence=cut)[cut:] + question(sequence=cut + 1))
            assert [client.reply().sequence for _ in range(2)] == [cut, cut + 1]
            assert ask(client, sequence=cut + 2) == "run1"


def test_frames_are_answered_by_a_check_too(source: Source) -> None:
    asked = question(sequence=5)
    with serving(source) as address, Client(address) as client, Client(address) as framed:
        wait_for_line(source, client)
        checks = source.checks
        for _ in range(3):
            framed.send(struct.pack(">I", len(asked)) + asked)
            (size,) = struct.unpack(">I", framed.socket.recv(4, socket.MSG_WAITALL))
            client.send(asked)
            whole = framed.socket.recv(size, socket.MSG_WAITALL)
            assert whole == client.socket.recv(size, socket.MSG_WAITALL)
        assert (source.runs, source.checks) == (1, checks)


def test_a_frame_whose_answer_changed_is_left_to_a_worker(source: Source) -> None:
    with serving(source) as address, Client(address) as client, Client(address) as framed:
        wait_for_line(source, client)
        for number in (1, 2, 3):
            source.numbers[TABLE] = number
            framed.send(struct.pack(">I", len(question())) + question())
            framed.socket.recv(4, socket.MSG_WAITALL)
            assert run_of(framed.reply()) == f"run{number}"


@pytest.mark.slow
def test_a_connection_is_idle_again_after_a_repeated_reply(source: Source) -> None:
    with serving(source, Limits(idle_seconds=2)) as address, Client(address) as client:
        wait_for_line(source, client)
        assert client.at_end()


@pytest.mark.slow
def test_the_time_of_a_repeated_call_ends_with_it(source: Source) -> None:
    with serving(source, Limits(call_seconds=3)) as address, Client(address) as client:
        wait_for_line(source, client)
        time.sleep(2)
        source.prompt = False
        client.send(question(sequence=10))
        time.sleep(1.5)
        source.lines[0].answer()
        assert run_of(client.reply()) == "run1"


@pytest.mark.parametrize("prompt_first", [True, False], ids=["in the question", "in the answer"])
def test_what_waits_on_a_lost_line_is_left_to_workers_and_another_is_opened(source: Source, prompt_first: bool) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.prompt, asked = False, len(source.questions)
        if prompt_first:
            source.lost = True
        client.send(question(sequence=10))
        if not prompt_first:
            until_waits(source, asked + 1)
            source.lost = True
            source.lines[0].answer()
        assert client.reply().sequence == 10
        assert source.lines[0].closed
        source.prompt, source.lost = True, False
        wait_for_line(source, client)
        assert len(source.lines) == 2


def test_all_that_waits_on_a_lost_line_is_refused_where_the_workers_have_no_room(source: Source) -> None:
    with serving(source, Limits(threads=1, max_waiting_calls=1)) as address, contextlib.ExitStack() as stack:
        client, *busy = [stack.enter_context(Client(address)) for _ in range(3)]
        wait_for_line(source, client)
        source.prompt, asked = False, len(source.questions)
        client.send(question(sequence=10) + question(sequence=11))
        until_waits(source, asked + 1)
        for each in busy:
            each.send(request("get_all_databases"))
            time.sleep(0.2)  # one runs, then one waits
        source.gate.wait_entered()
        source.lost = True
        source.lines[0].answer()
        replies = [client.reply() for _ in range(2)]
        source.gate.open()
        assert [each.sequence for each in replies] == [10, 11]
        assert all("the server is busy" in str(each.content) for each in replies)
        assert [each.reply().value for each in busy] == [["let go"]] * 2


def test_a_question_that_the_socket_takes_in_parts_is_watched_until_it_is_sent(source: Source) -> None:
    """The database answers only the whole question: a selector that watches for answers alone would wait for ever."""
    parts = 3

    class SlowLine(FakeLine):
        left = 0

        def send_query(self, table_ids: Collection[int]) -> None:
            source.prompt, self.has_unsent, self.left = False, True, parts
            super().send_query(table_ids)

        def receive(self) -> Mapping[int, int] | None:
            if not self.has_unsent:
                return super().receive()
            self.left -= 1
            if not self.left:
                self.has_unsent = False
                self.answer()
            return None

    def slow_line() -> FakeLine:
        source.lines.append(SlowLine(source))
        return source.lines[-1]

    source.version_line = slow_line  # type: ignore[method-assign]
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        for _ in range(2):
            asked, checks = len(source.questions), source.checks
            assert ask(client) == "run1"
            assert (len(source.questions), source.checks) == (asked + 1, checks)


def test_a_call_that_waits_too_long_is_given_up_once(source: Source) -> None:
    with serving(source, Limits(call_seconds=0.3)) as address, Client(address) as client, Client(address) as other:
        wait_for_line(source, client)
        source.prompt = False
        client.send(question())
        assert "timed out after 0.3 seconds" in str(client.reply().content)
        source.lines[0].answer()
        assert client.at_end()
        source.prompt = True
        assert ask(other) == "run1"


def test_a_client_that_goes_while_it_waits_holds_up_nobody(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.prompt, asked = False, len(source.questions)
        with Client(address) as leaving:
            leaving.send(question())
            until_waits(source, asked + 1)
        give_others_time(address)
        source.prompt = True
        source.lines[0].answer()
        assert ask(client) == "run1"


@pytest.mark.parametrize("known", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["known", "checked"])
def test_a_repeated_reply_goes_on_as_its_reader_takes_it(source: Source, known: bool) -> None:
    source.known = {TABLE: 1} if known else None
    source.name_characters = 20_000_000
    with serving(source, answers_bytes=50_000_000) as address, Client(address) as slow, Client(address) as client:
        ask(client)
        if not known:
            wait_for_line(source, client)
        asked = len(source.questions)
        for sequence in (5, 6):
            slow.send(question(sequence=sequence))
            time.sleep(0.1)  # what the socket holds is there
            assert client.ask("getOption", key="meanwhile").value == "meanwhile"
            reply = slow.reply()
            assert (reply.sequence, run_of(reply)) == (sequence, "run1".ljust(source.name_characters))
        assert (source.runs, len(source.questions) - asked) == (1, 0 if known else 2)


def test_clients_that_wait_for_the_processor_are_asked_for_together(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Client] = []

    def offer() -> None:
        while late:
            late.pop().send(question(sequence=12))

    monkeypatch.setattr("hmstats.server.connections.loop.os.sched_yield", offer)
    with (
        serving(source, Limits(busy_poll_seconds=0)) as address,
        Client(address) as client,
        Client(address) as other,
    ):
        wait_for_line(source, client)
        assert ask(other) == "run1"
        asked = len(source.questions)
        late.append(other)
        assert ask(client, sequence=11) == "run1"
        assert other.reply().sequence == 12
        assert len(source.questions) == asked + 1


def test_a_client_alone_is_asked_for_at_once(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[None] = []
    monkeypatch.setattr("hmstats.server.connections.loop.os.sched_yield", lambda: offered.append(None))
    with serving(source, Limits(busy_poll_seconds=0)) as address, Client(address) as client:
        wait_for_line(source, client)
        assert offered == []


def test_what_is_repeated_while_the_server_drains_is_the_last_reply(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.prompt, asked = False, len(source.questions)
        client.send(question(sequence=10))
        until_waits(source, asked + 1)
        assert source.server is not None
        stopping = threading.Thread(target=source.server.stop, args=(3 * PATIENCE_SECONDS,))
        stopping.start()
        while is_open(address):
            time.sleep(0.01)
        source.lines[0].answer()
        assert client.reply().sequence == 10
        assert client.at_end()
        stopping.join()


def is_open(address: tuple[str, int]) -> bool:
    """Whether the server takes connections."""
    try:
        socket.create_connection(address).close()
    except ConnectionError:
        return False
    return True


def test_repeated_calls_are_counted_as_kept(source: Source) -> None:
    def counted() -> float:
        labels = {"method": METHOD, "outcome": "cached"}
        return REGISTRY.get_sample_value("hmstats_rpc_seconds_count", labels) or 0.0

    before = counted()
    with serving(source) as address, Client(address) as client:
        for _ in range(150):
            ask(client)
        give_up = time.monotonic() + PATIENCE_SECONDS
        while counted() - before < 149 and time.monotonic() < give_up:
            time.sleep(0.01)
        assert counted() - before == 149


def test_known_numbers_need_no_line(source: Source) -> None:
    source.known = {TABLE: 1}
    with serving(source) as address, Client(address) as client:
        assert [ask(client) for _ in range(3)] == ["run1"] * 3
        source.numbers[TABLE], source.known = 2, {TABLE: 2}
        assert ask(client) == "run2"
    assert (source.lines, source.questions, source.checks) == ([], [], 1)


def test_without_a_line_workers_check(source: Source) -> None:
    tries: list[None] = []
    source.version_line = lambda: tries.append(None)  # type: ignore[method-assign]
    with serving(source) as address, Client(address) as client:
        assert [ask(client) for _ in range(5)] == ["run1"] * 5
    assert (source.runs, source.checks, len(tries)) == (1, 4, 1)


def until_waits(source: Source, questions: int) -> None:
    """Return when so many questions were asked on the line."""
    for _ in range(int(PATIENCE_SECONDS * 200)):
        if len(source.questions) >= questions:
            return
        time.sleep(0.005)
    raise AssertionError(f"{questions} questions should have been asked, found {source.questions}")


def give_others_time(address: tuple[str, int]) -> None:
    """Return when the selector's thread has surely taken up what was sent before."""
    for _ in range(3):
        with Client(address) as client:
            client.send(request("getOption", key="k"))
            assert client.reply().value == "k"


def test_the_next_event_is_looked_for_only_after_a_call_that_took_no_worker(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[float] = []

    def look(_selector: object, seconds: float) -> Ready:
        looked.append(seconds)
        return []

    monkeypatch.setattr("hmstats.server.connections.loop.busy_poll", look)
    source.gate.open()
    with serving(source, Limits(busy_poll_seconds=0.5)) as address, Client(address) as client:
        wait_for_line(source, client)
        assert set(looked) == {0.5}
        assert client.ask("get_all_databases").value == ["let go"]
        looked.clear()
        assert client.ask("get_all_databases").value == ["let go"]
        assert looked == []


@pytest.mark.parametrize("breaks", ["ready", "known", "answer"])
def test_an_unexpected_error_costs_its_connection_and_no_other(
    source: Source, breaks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ready(message: bytes, body_at: int) -> CachedAnswer | None:
        if b"broken" in message[body_at:] and breaks == "ready":
            raise RuntimeError("a bug")
        return None

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    with serving(source, ready=ready) as address, Client(address) as client, Client(address) as other:
        wait_for_line(source, client)
        assert ask(other) == "run1"
        before = failed_connections()
        if breaks == "known":
            monkeypatch.setattr(source, "cached_versions", broken)
        if breaks == "answer":
            monkeypatch.setattr(CachedAnswer, "is_valid_at", broken)
        client.send(question("broken" if breaks == "ready" else "c"))
        assert client.at_end()
        monkeypatch.undo()
        assert ask(other) == "run1"
        assert failed_connections() == before + 1


def test_a_line_with_an_unexpected_error_is_replaced_and_workers_answer(source: Source) -> None:
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        (line,) = source.lines

        def hear() -> None:
            raise RuntimeError("a bug")

        line.receive = hear  # type: ignore[method-assign]
        assert ask(client) == "run1"
        assert line.closed
        wait_for_line(source, client)
        assert len(source.lines) == 2


def failed_connections() -> float:
    return REGISTRY.get_sample_value("hmstats_failed_connections_total") or 0.0

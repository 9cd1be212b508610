import threading
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.server.requests import encoded, old_envelope, reply_of, request
from tests.server.serving import Client

from hmstats.errors import NoSuchObject
from hmstats.model.catalog.objects import TableName
from hmstats.server.cache.cached_answers import AnswerCache, CachedAnswer
from hmstats.server.cache.cached_tables import TableCache
from hmstats.server.cache.recent_changes import Touched
from hmstats.server.calls.dispatch import Dispatcher, Session
from hmstats.server.messages.encodings import Begun
from hmstats.server.messages.request import CacheKey, Request
from hmstats.server.server import Server
from hmstats.store.changes import versions
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.idl import methods
from hmstats.wire.messages.envelope import CALL, read_head

SESSION = Session(1, "127.0.0.1:1")
METHOD = "get_table_column_statistics"
WANTED: dict[str, Any] = {"db_name": "d", "tbl_name": "t", "col_name": "c"}


class Numbers:
    """Tables' versions as a database would tell them, and how often it was asked."""

    def __init__(self) -> None:
        self.now = {1: 5, 2: 7}
        self.asked = 0

    def __call__(self, table_ids: Collection[int]) -> Mapping[int, int]:
        """The numbers of those that have one."""
        self.asked += 1
        return {each: self.now[each] for each in table_ids if each in self.now}


@pytest.fixture
def numbers() -> Numbers:
    """Table 1 at 5 and table 2 at 7."""
    return Numbers()


def put(
    answers: AnswerCache,
    question: CacheKey,
    result: bytes,
    *noted: tuple[int, int | None],
    partitions: Collection[str] | None = None,
) -> None:
    with answers.caching(question) as cached:
        for table_id, version in noted:
            versions.note_read(table_id, version, partitions)
        cached(result)


def test_an_answer_is_found_as_long_as_its_table_has_the_same_number(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    assert answers.find_valid(question) is None
    assert numbers.asked == 0
    put(answers, question, b"one", (1, 5))
    assert answers.find_valid(question) == answers.find_valid(question) == b"one"
    assert answers.find_valid((METHOD, b"b")) is None
    assert numbers.asked == 2
    numbers.now[2] = 8
    assert answers.find_valid(question) == b"one"
    numbers.now[1] = 6
    assert answers.find_valid(question) is None
    put(answers, question, b"two", (1, 6))
    assert answers.find_valid(question) == b"two"


def test_an_answer_from_two_tables_needs_both(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    put(answers, question, b"one", (1, 5), (2, 7))
    assert answers.find_valid(question) == b"one"
    numbers.now[2] = 8
    assert answers.find_valid(question) is None


def test_an_answer_is_not_found_once_its_table_has_no_number(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    put(answers, question, b"one", (1, 5))
    del numbers.now[1]
    assert answers.find_valid(question) is None


class Log:
    """What changed between numbers, as the database would tell it, and how often it was asked."""

    def __init__(self, named: dict[int, frozenset[str] | None]) -> None:
        self.named = named
        self.asked = 0

    def __call__(self, table_id: int, old: int, new: int) -> frozenset[str] | None:
        """Of table 1 what happened, of others anything."""
        self.asked += 1
        changed = [self.named.get(each) if table_id == 1 else None for each in range(old + 1, new + 1)]
        return None if None in changed else frozenset().union(*filter(None, changed))


@pytest.mark.parametrize(
    ("named", "partitions", "found"),
    [
        ({6: frozenset({"k=b"})}, ["k=a"], True),
        ({6: frozenset({"k=b"})}, [], True),
        ({6: frozenset()}, ["k=a"], True),
        ({6: frozenset({"k=a", "k=b"})}, ["k=a"], False),
        ({6: frozenset({"k=b"})}, None, False),
        ({6: None}, [], False),
        ({}, ["k=a"], False),
    ],
)
def test_an_answer_outlives_changes_of_partitions_that_it_was_not_made_from(
    numbers: Numbers, named: dict[int, frozenset[str] | None], partitions: list[str] | None, found: bool
) -> None:
    log, question = Log(named), (METHOD, b"a")
    answers = AnswerCache(numbers, 10_000, log)
    put(answers, question, b"one", (1, 5), partitions=partitions)
    numbers.now[1] = 6
    for _ in range(3):
        assert answers.find_valid(question) == (b"one" if found else None)
    assert log.asked <= 1 or not found


def test_an_answer_that_outlived_a_change_needs_to_outlive_the_next(numbers: Numbers) -> None:
    answers, question = (
        AnswerCache(numbers, 10_000, Log({6: frozenset({"k=b"}), 7: frozenset({"k=a"})})),
        (METHOD, b"a"),
    )
    put(answers, question, b"one", (1, 5), partitions=["k=a"])
    numbers.now[1] = 6
    assert answers.find_valid(question) == b"one"
    numbers.now[1] = 7
    assert answers.find_valid(question) is None


def test_an_answer_from_two_tables_outlives_what_touched_neither_part(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000, Log({6: frozenset({"k=b"})})), (METHOD, b"a")
    put(answers, question, b"one", (1, 5), (2, 7), partitions=["k=a"])
    numbers.now[1] = 6
    assert answers.find_valid(question) == b"one"
    numbers.now[2] = 8
    assert answers.find_valid(question) is None


@pytest.mark.parametrize("noted", [[], [(1, None)], [(1, 5), (3, None)]])
def test_an_answer_from_no_table_or_one_without_number_is_not_kept(
    numbers: Numbers, noted: list[tuple[int, int | None]]
) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    put(answers, question, b"one", *noted)
    assert answers.find_valid(question) is None


def test_an_answer_read_in_two_transactions_counts_at_the_number_of_the_first(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    put(answers, question, b"half old, half new", (1, 4), (1, 5))
    assert answers.find_valid(question) is None


def test_tables_that_are_read_outside_are_not_noted(numbers: Numbers) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    versions.note_read(2, 7)
    put(answers, question, b"one", (1, 5))
    versions.note_read(2, 7)
    numbers.now = {1: 5}
    assert answers.find_valid(question) == b"one"


def test_the_answers_that_were_asked_for_last_stay(numbers: Numbers) -> None:
    answers, result = AnswerCache(numbers, 6_500), bytes(1_000)
    questions = [(METHOD, str(number).encode()) for number in range(4)]
    for question in questions[:3]:
        put(answers, question, result, (1, 5))
    assert answers.find_valid(questions[0]) == result
    put(answers, questions[3], result, (1, 5))
    assert [answers.find_valid(each) is not None for each in questions] == [True, False, True, True]


def test_an_answer_larger_than_all_memory_pushes_out_none(numbers: Numbers) -> None:
    answers = AnswerCache(numbers, 6_500)
    put(answers, (METHOD, b"a"), b"small", (1, 5))
    put(answers, (METHOD, b"b"), bytes(6_500), (1, 5))
    assert answers.find_valid((METHOD, b"a")) == b"small"
    assert answers.find_valid((METHOD, b"b")) is None


def test_answers_that_replace_each_other_take_the_room_of_one(numbers: Numbers) -> None:
    answers = AnswerCache(numbers, 6_500)
    put(answers, (METHOD, b"a"), b"small", (1, 5))
    for _ in range(20):
        put(answers, (METHOD, b"b"), bytes(3_000), (1, 5))
    assert answers.find_valid((METHOD, b"a")) == b"small"


def test_only_calls_that_depend_on_nothing_else_are_questions(numbers: Numbers) -> None:
    answers = AnswerCache(numbers, 10_000)
    assert answers.key(METHOD, b"xxbody", 2) == (METHOD, b"body")
    for name in ("update_table_column_statistics", "set_ugi", "get_all_databases"):
        assert answers.key(name, b"xxbody", 2) is None
    assert AnswerCache(numbers, 0).key(METHOD, b"xxbody", 2) is None


class Counted:
    """A call that reads table 1 and answers statistics, and how often it ran."""

    def __init__(self, numbers: Numbers) -> None:
        self.runs = 0
        self._numbers = numbers

    def __call__(self, session: Session, db_name: str, tbl_name: str, col_name: str) -> object:
        """Statistics without columns, or the declared error for column `gone`."""
        self.runs += 1
        versions.note_read(1, self._numbers.now[1])
        if col_name == "gone":
            raise NoSuchObject("no such column")
        description = api.ColumnStatisticsDesc(isTblLevel=True, dbName=db_name, tableName=f"{tbl_name}{self.runs}")
        return api.ColumnStatistics(statsDesc=description, statsObj=[])


def test_a_repeated_question_is_answered_without_the_call_and_under_its_own_sequence_id(numbers: Numbers) -> None:
    call = Counted(numbers)
    dispatcher = Dispatcher(methods(), {METHOD: call}, AnswerCache(numbers, 10_000))
    first = reply_of(dispatcher.answer(Request.of(request(METHOD, 41, **WANTED)), SESSION))
    again = reply_of(dispatcher.answer(Request.of(request(METHOD, 42, **WANTED)), Session(2, "127.0.0.1:2")))
    body = encoded(methods()[METHOD].arguments(**WANTED))
    old = reply_of(dispatcher.answer(Request.of(old_envelope(METHOD, 43, CALL, body)), SESSION))
    assert call.runs == 1
    assert [each.sequence for each in (first, again, old)] == [41, 42, 43]
    assert first.content == again.content == old.content
    numbers.now[1] += 1
    changed = reply_of(dispatcher.answer(Request.of(request(METHOD, 44, **WANTED)), SESSION))
    assert changed.value.statsDesc.tableName == "t2"


def test_only_whole_requests_that_were_answered_are_known(numbers: Numbers) -> None:
    answers, asked = AnswerCache(numbers, 10_000), request(METHOD, **WANTED)
    dispatcher = Dispatcher(methods(), {METHOD: Counted(numbers)}, answers)
    assert not dispatcher.recognise(bytearray(asked))
    dispatcher.answer(Request.of(asked), SESSION)
    later = request(METHOD, 77, **WANTED)
    others = (
        later[:-1],
        later + later,
        later[:3],
        b"",
        b"\x82" + later[1:],
        request(METHOD, **WANTED | {"col_name": "d"}),
    )
    known = dispatcher.recognise(bytearray(later))
    assert isinstance(known, Request)
    assert (known.message, known.head) == (later, read_head(later))
    assert not any(dispatcher.recognise(bytearray(each)) for each in others)


def long_request(sequence: int, last: str = "p=9999", count: int = 10_000) -> bytes:
    """A request of 100 kB for statistics of so many partitions."""
    names = [f"p={each}" for each in range(count - 1)] + [last]
    asked = api.PartitionsStatsRequest(dbName="d", tblName="t", colNames=["c"], partNames=names, engine="hive")
    return request("get_aggr_stats_for", sequence, request=asked)


def test_a_long_request_that_came_before_is_not_scanned_while_it_comes(numbers: Numbers) -> None:
    answers = AnswerCache(numbers, 1_000_000)
    dispatcher = Dispatcher(methods(), {}, answers)
    first = Request.of(long_request(1))
    key = answers.key(first.head.name, first.message, first.head.body_at)
    assert key is not None
    answers.put(key, CachedAnswer({1: 1}, {}, b"answer"))
    later = bytearray(long_request(77))
    assert [dispatcher.recognise(later[:size]) for size in (2_000, 70_000, len(later) - 1)] == [Begun.BEGUN] * 3
    whole = dispatcher.recognise(later)
    assert isinstance(whole, Request)
    assert (whole.message, whole.head.sequence) == (bytes(later), 77)
    assert [dispatcher.recognise(each) for each in (later + b"x", later[:500], later[:69_999] + b"?")] == [None] * 3
    other = bytearray(long_request(77, last="p=none"))
    assert [dispatcher.recognise(each) for each in (other, other[:-10])] == [None, None]
    answers.clear()
    assert dispatcher.recognise(later[:70_000]) is None


def test_a_long_request_that_is_cached_no_more_is_not_known(numbers: Numbers) -> None:
    answers = AnswerCache(numbers, 250_000)
    dispatcher = Dispatcher(methods(), {}, answers)
    lasts = ("p=first", "p=second", "p=third")
    for last in lasts:
        asked = Request.of(long_request(1, last))
        key = answers.key(asked.head.name, asked.message, asked.head.body_at)
        assert key is not None
        answers.put(key, CachedAnswer({1: 1}, {}, b"answer"))
    known = [
        bool(dispatcher.recognise(bytearray(long_request(2, last)))) for last in ("p=first", "p=second", "p=third")
    ]
    assert known == [False, True, True]


@pytest.mark.parametrize("size", [1_000, 16_384, 60_000])
def test_long_requests_that_begin_alike_are_all_answered(numbers: Numbers, size: int) -> None:
    """They come in parts of so many bytes, each as another one that came before, but for its end."""
    calls = []

    def aggregate(session: Session, request: Any) -> Any:
        calls.append(request.partNames[-1])
        versions.note_read(1, numbers.now[1])
        return api.AggrStats(colStats=[], partsFound=len(request.partNames))

    dispatcher = Dispatcher(methods(), {"get_aggr_stats_for": aggregate}, AnswerCache(numbers, 1_000_000))
    server = Server(("127.0.0.1", 0), dispatcher)
    asked = [("p=9999", 10_000), ("p=9999", 10_000), ("p=none", 10_000), ("p=9999", 9_000), ("p=9999", 10_000)]
    try:
        with Client(server.start()) as client:
            for sequence, (last, count) in enumerate(asked):
                sent = long_request(sequence, last, count)
                for start in range(0, len(sent), size):
                    client.send(sent[start : start + size])
                reply = client.reply()
                assert (reply.sequence, reply.value.partsFound) == (sequence, count)
    finally:
        server.stop(0)
    assert calls == ["p=9999", "p=none", "p=9999"]


def test_only_strict_calls_that_were_answered_are_repeats(numbers: Numbers) -> None:
    dispatcher = Dispatcher(methods(), {METHOD: Counted(numbers)}, AnswerCache(numbers, 10_000))
    asked = request(METHOD, 1, **WANTED)
    assert dispatcher.find_repeated(asked, SESSION) is None
    first = dispatcher.answer(Request.of(asked), SESSION)
    assert first is not None
    later = request(METHOD, 77, **WANTED)
    repeated = dispatcher.find_repeated(later, SESSION)
    assert repeated is not None
    again = dispatcher.answer(Request.of(later), SESSION)
    assert again is not None
    assert b"".join(repeated.pieces) == b"".join(again) == b"".join(first).replace(b"\0\0\0\1", b"\0\0\0M", 1)
    assert (repeated.request.message, dict(repeated.cached.versions)) == (later, {1: 5})
    assert repeated.request.head == read_head(later)
    others = (
        *(later[:size] for size in range(len(later))),
        later + later,
        later.replace(b"\x80\1\0\1", b"\x80\1\0\4"),
        later[4:-5] + later[-1:],
        b"\x80\1\0\1\0\0\0\xff" + later[8:],
        b"\x80\1\0\1\0\0\0\0" + later[8:],
        request(METHOD, **WANTED | {"col_name": "d"}),
        request("get_all_databases"),
    )
    assert [each for each in others if dispatcher.find_repeated(each, SESSION)] == []


def test_what_spark_sees_alone_is_repeated_to_spark_alone(numbers: Numbers) -> None:
    def call(session: Session, dbname: str, tbl_name: str) -> object:
        versions.note_read(1, 5)
        return api.Table(dbName=dbname, tableName=f"{tbl_name} of Spark" if session.is_spark else tbl_name)

    dispatcher = Dispatcher(methods(), {"get_table": call}, AnswerCache(numbers, 10_000))
    asked, spark = request("get_table", dbname="d", tbl_name="t"), Session(2, "127.0.0.1:2", is_spark=True)
    dispatcher.answer(Request.of(asked), spark)
    assert dispatcher.find_repeated(asked, SESSION) is None
    dispatcher.answer(Request.of(asked), SESSION)
    for session, name in ((SESSION, "t"), (spark, "t of Spark")):
        repeated = dispatcher.find_repeated(asked, session)
        assert repeated is not None
        assert reply_of(repeated.pieces).value.tableName == name


@pytest.mark.parametrize(("now", "same"), [({1: 5}, True), ({1: 5, 2: 9}, True), ({1: 6}, False), ({2: 7}, False)])
def test_an_answer_is_the_same_while_its_tables_have_their_numbers(
    numbers: Numbers, now: Mapping[int, int], same: bool
) -> None:
    answers, question = AnswerCache(numbers, 10_000), (METHOD, b"a")
    assert answers.find(question) is None
    put(answers, question, b"one", (1, 5))
    cached = answers.find(question)
    assert cached is not None
    assert cached.is_valid_at(now) is same
    assert numbers.asked == 0


def test_errors_are_not_kept(numbers: Numbers) -> None:
    call = Counted(numbers)
    dispatcher = Dispatcher(methods(), {METHOD: call}, AnswerCache(numbers, 10_000))
    gone = request(METHOD, **(WANTED | {"col_name": "gone"}))
    for _ in range(2):
        answer = reply_of(dispatcher.answer(Request.of(gone), SESSION)).content
        assert [each.message for each in vars(answer).values() if each is not None] == ["no such column"]
    assert call.runs == 2


def test_without_answers_every_question_runs_the_call(numbers: Numbers) -> None:
    call = Counted(numbers)
    dispatcher = Dispatcher(methods(), {METHOD: call})
    for _ in range(3):
        dispatcher.answer(Request.of(request(METHOD, **WANTED)), SESSION)
    assert call.runs == 3


class SlowOne(Numbers):
    """Tables' versions, of which that of table 1 is not told until `end`; `begun` once somebody asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.end = threading.Event(), threading.Event()

    def __call__(self, table_ids: Collection[int]) -> Mapping[int, int]:
        """The numbers, sooner or later."""
        if 1 in table_ids:
            self.begun.set()
            assert self.end.wait(20)
        return super().__call__(table_ids)


def test_a_slow_check_of_one_answer_holds_up_no_other() -> None:
    """Another is found, put and forgotten meanwhile, and what was forgotten does not come back."""
    numbers = SlowOne()
    answers, slow, other = AnswerCache(numbers, 10_000), (METHOD, b"slow"), (METHOD, b"other")
    put(answers, slow, b"one", (1, 5))
    put(answers, other, b"two", (2, 7))
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(answers.find_valid, slow)
        try:
            assert numbers.begun.wait(20)
            assert answers.find_valid(other) == b"two"
            put(answers, other, b"three", (2, 7))
            assert answers.find_valid(other) == b"three"
            answers.clear()
        finally:
            numbers.end.set()
        assert found.result(20) == b"one"
    assert answers.find_valid(slow) is answers.find_valid(other) is None


def test_a_slow_check_of_one_tables_statistics_holds_up_no_other() -> None:
    numbers, names = SlowOne(), [TableName("hive", "d", name) for name in ("slow", "other")]
    tables = TableCache(numbers, lambda *_: Touched(frozenset()), 100_000)
    kept = [tables.open(name, table_id, numbers.now[table_id]) for table_id, name in enumerate(names, 1)]
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(tables.find_current, names[0])
        try:
            assert numbers.begun.wait(20)
            assert tables.find_current(names[1]) is kept[1]
            tables.clear()
        finally:
            numbers.end.set()
        assert found.result(20) is kept[0]
    assert tables.is_empty

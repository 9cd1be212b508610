import threading
from collections.abc import Callable
from typing import Any

import pytest
import structlog
from prometheus_client import REGISTRY
from structlog.testing import capture_logs
from tests.server.requests import Reply, encoded, envelope, field, old_envelope, reply_of, request
from thriftpy2.thrift import TApplicationException

from hmstats.errors import (
    AlreadyExists,
    InvalidInput,
    NoSuchObject,
    SketchError,
    StoreUnavailable,
)
from hmstats.server.calls.dispatch import Dispatcher, Encoded, Session
from hmstats.server.messages.request import Request
from hmstats.server.messages.struct_codec import encode_struct
from hmstats.wire.faults import TRY_AGAIN
from hmstats.wire.idl import hive_metastore, methods
from hmstats.wire.messages.envelope import CALL, ONEWAY

SESSION = Session(7, "127.0.0.1:4711")


def dispatcher(**calls: Callable[..., Any]) -> Dispatcher:
    return Dispatcher(methods(), calls)


def ask(name: str, call: Callable[..., Any], /, **arguments: Any) -> Reply:
    return reply_of(dispatcher(**{name: call}).answer(Request.of(request(name, 42, **arguments)), SESSION))


def raising(error: Exception) -> Callable[..., Any]:
    def call(_session: Session, **_arguments: Any) -> Any:
        raise error

    return call


def test_a_call_gets_the_session_and_its_arguments_by_name() -> None:
    seen: list[Any] = []

    def call(session: Session, **arguments: Any) -> list[str]:
        seen.extend((session, arguments))
        return ["staff"]

    reply = ask("set_ugi", call, user_name="ada", group_names=["staff", "ops"])
    assert seen == [SESSION, {"user_name": "ada", "group_names": ["staff", "ops"]}]
    assert (reply.name, reply.sequence, reply.value) == ("set_ugi", 42, ["staff"])


def test_arguments_that_are_left_out_have_their_defaults() -> None:
    reply = ask("get_tables", lambda _session, db_name, pattern: [f"{db_name} {pattern}"], db_name="d")
    assert reply.value == ["d None"]


def test_structs_go_both_ways() -> None:
    database = hive_metastore.Database(name="db", parameters={"k": "ü"})
    kept = []
    assert (
        ask("create_database", lambda _session, database: kept.append(database), database=database).content.o1 is None
    )
    assert kept == [database]
    assert ask("get_database", lambda _session, name: kept[0], name="db").value == database


def test_an_old_head_is_answered() -> None:
    arguments = methods()["getOption"].arguments(key="k")
    message = old_envelope("getOption", 5, CALL, encoded(arguments))
    reply = reply_of(dispatcher(getOption=lambda _session, key: key).answer(Request.of(message), SESSION))
    assert (reply.value, reply.sequence) == ("k", 5)


def test_an_encoded_result_is_sent_as_it_is() -> None:
    result = encoded(methods()["getOption"].result(success="made before"))
    assert ask("getOption", lambda _session, key: Encoded(result)).value == "made before"


@pytest.mark.parametrize("value", [0, False, "", []])
def test_a_value_that_is_merely_empty_is_a_value(value: Any) -> None:
    name = {int: "getCounter", bool: "drop_type", str: "getName", list: "get_all_databases"}[type(value)]
    assert ask(name, lambda _session, **_arguments: value).value == value


def test_no_value_where_one_is_expected() -> None:
    content = ask("get_database", lambda _session, name: None).content
    assert isinstance(content, TApplicationException)
    assert (content.type, content.message) == (content.MISSING_RESULT, "get_database failed: unknown result")


@pytest.mark.parametrize(
    ("name", "error", "result_field", "kind"),
    [
        ("get_all_databases", StoreUnavailable("the database is away"), "o1", "MetaException"),
        ("get_database", NoSuchObject("database d does not exist"), "o1", "NoSuchObjectException"),
        ("add_partitions", AlreadyExists("partition p exists"), "o2", "AlreadyExistsException"),
        ("get_database", InvalidInput("name is empty"), "o2", "MetaException"),
        ("get_database", SketchError("12 bytes are no sketch"), "o2", "MetaException"),
    ],
)
def test_an_error_is_the_exception_that_the_method_declares(
    name: str, error: Exception, result_field: str, kind: str
) -> None:
    content = ask(name, raising(error)).content
    exception = getattr(content, result_field)
    hint = TRY_AGAIN if isinstance(error, StoreUnavailable) else ""
    assert (type(exception).__name__, exception.message) == (kind, f"{error}{hint}")


def test_an_error_that_a_method_cannot_declare() -> None:
    content = ask("getOption", raising(NoSuchObject("option o does not exist"))).content
    assert isinstance(content, TApplicationException)
    assert content.type == content.INTERNAL_ERROR
    assert content.message == "Internal error processing getOption: option o does not exist"


@pytest.mark.parametrize("name", ["get_all_databases", "getName"])
def test_a_bug_is_logged_and_named_by_its_request_id(name: str) -> None:
    with capture_logs() as events:
        content = ask(name, raising(ZeroDivisionError("secret detail"))).content
    broke = next(event for event in events if event["event"] == "call_broke")
    assert broke["exc_info"]
    assert broke["method"] == name
    message = content.message if name == "getName" else content.o1.message
    assert broke["request_id"] in message
    assert "secret" not in message


def test_a_result_that_cannot_be_encoded_is_a_bug() -> None:
    with capture_logs() as events:
        content = ask("get_all_databases", lambda _session: [1, 2]).content
    assert "unexpected error" in content.o1.message
    assert any(event["event"] == "call_broke" for event in events)


@pytest.mark.parametrize("name", ["no_such_method", "get_database"])
def test_a_method_without_a_call_is_unknown(name: str) -> None:
    content = reply_of(dispatcher().answer(Request.of(envelope(name, 1, CALL, b"\0")), SESSION)).content
    assert isinstance(content, TApplicationException)
    assert (content.type, content.message) == (content.UNKNOWN_METHOD, f"Invalid method name: '{name}'")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(field(11, 1) + b"\0\0\0\2\xff\xfe\0", id="text that is not UTF-8"),
        pytest.param(field(11, 1) + b"\0\0\0\x09ab\0", id="text that goes on behind the end"),
        pytest.param(field(12, 9) * 70 + b"\0" * 71, id="deeper than decoders go"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_arguments_that_cannot_be_read(body: bytes) -> None:
    message = envelope("getOption", 3, CALL, body)
    reply = reply_of(dispatcher(getOption=lambda _session, key: key).answer(Request.of(message), SESSION))
    assert isinstance(reply.content, TApplicationException)
    assert (reply.content.type, reply.sequence) == (TApplicationException.PROTOCOL_ERROR, 3)
    assert "the arguments of getOption cannot be read" in reply.content.message


def test_a_field_of_another_type_is_left_out() -> None:
    message = envelope("getOption", 3, CALL, field(10, 1) + bytes(8) + b"\0")
    reply = reply_of(dispatcher(getOption=lambda _session, key: f"found {key}").answer(Request.of(message), SESSION))
    assert reply.value == "found None"


def test_a_oneway_method_runs_without_an_answer() -> None:
    ran = threading.Event()
    answer = dispatcher(shutdown=lambda _session: ran.set()).answer(Request.of(request("shutdown", kind=CALL)), SESSION)
    assert answer is None
    assert ran.is_set()


@pytest.mark.parametrize("name", ["getName", "no_such_method"])
def test_a_client_that_waits_for_nothing_gets_nothing(name: str) -> None:
    assert (
        dispatcher(getName=lambda _session: "n").answer(Request.of(envelope(name, 1, ONEWAY, b"\0")), SESSION) is None
    )


def test_a_refused_request_gets_the_sentence() -> None:
    server = dispatcher()
    declared = reply_of(server.refuse(Request.of(request("get_all_databases", 8)), SESSION, "come later"))
    assert (declared.content.o1.message, declared.sequence) == ("come later", 8)
    undeclared = reply_of(server.refuse(Request.of(request("getName")), SESSION, "come later")).content
    assert undeclared.message == "Internal error processing getName: come later"
    assert reply_of(server.refuse(Request.of(envelope("what", 1, CALL, b"\0")), SESSION, "no")).content.type == 6
    assert server.refuse(Request.of(request("shutdown")), SESSION, "come later") is None


def test_each_call_is_one_event_and_what_it_binds_ends_with_it() -> None:
    def call(_session: Session, key: str) -> str:
        structlog.contextvars.bind_contextvars(**{key: "db.t"})
        return key

    server = dispatcher(getOption=call)
    with capture_logs() as events:
        server.answer(Request.of(request("getOption", key="object")), SESSION)
        server.answer(Request.of(request("getOption", key="other")), SESSION)
        server.answer(Request.of(envelope("what", 1, CALL, b"\0")), SESSION)
    assert [event["event"] for event in events] == ["call"] * 3
    assert [event["outcome"] for event in events] == ["ok", "ok", "UNKNOWN_METHOD"]
    assert [event.get("object") for event in events] == ["db.t", None, None]
    assert len({event["request_id"] for event in events}) == 3
    first = events[0]
    assert (first["method"], first["connection"], first["peer"]) == ("getOption", 7, "127.0.0.1:4711")
    assert isinstance(first["milliseconds"], float)


def test_the_line_of_a_refused_call_says_why() -> None:
    refused = dispatcher(
        get_table=raising(NoSuchObject("d.t does not exist")), getName=raising(SketchError("no " * 999))
    )
    with capture_logs() as events:
        refused.answer(Request.of(request("get_table", dbname="d", tbl_name="t")), SESSION)
        refused.answer(Request.of(request("getName")), SESSION)
        refused.answer(Request.of(request("getVersion")), SESSION)
        dispatcher(getName=lambda _: "x").answer(Request.of(request("getName")), SESSION)
    known, long, unknown, answered = events
    assert (known["outcome"], known["reason"]) == ("NoSuchObjectException", "NoSuchObject: d.t does not exist")
    assert long["outcome"] == "INTERNAL_ERROR"
    assert long["reason"].startswith("Internal error processing getName: no no ")
    assert len(long["reason"]) == 500
    assert unknown["reason"] == "Invalid method name: 'getVersion'"
    assert "reason" not in answered


def test_calls_are_counted_by_method_and_outcome() -> None:
    def counted(method: str, outcome: str) -> float:
        labels = {"method": method, "outcome": outcome}
        return REGISTRY.get_sample_value("hmstats_rpc_seconds_count", labels) or 0.0

    kinds = [("getName", "ok"), ("get_database", "NoSuchObjectException"), ("unknown", "UNKNOWN_METHOD")]
    before = [counted(*kind) for kind in kinds]
    server = dispatcher(getName=lambda _session: "n", get_database=raising(NoSuchObject("no")))
    for name in ("getName", "get_database", "made_up", "made_up_too"):
        server.answer(Request.of(envelope(name, 1, CALL, b"\0")), SESSION)
    assert [counted(*kind) - was for kind, was in zip(kinds, before, strict=True)] == [1, 1, 2]


def test_a_struct_that_a_call_is_about_must_be_there() -> None:
    content = ask("update_table_column_statistics", lambda *_: True).content
    assert content.o4.message == "update_table_column_statistics must have the argument stats_obj, found none"


def test_a_direct_call_has_the_first_word() -> None:
    asked: list[tuple[Session, bytes]] = []

    def direct(session: Session, request: Request) -> bytes | None:
        message = request.message
        asked.append((session, message[request.head.body_at :]))
        if b"odd" in message:
            return None
        if b"bad" in message:
            raise InvalidInput("bad is no table")
        return encode_struct(methods()["get_all_tables"].result(success=["quick"]))

    made = Dispatcher(methods(), {"get_all_tables": lambda _, db_name: [db_name]}, direct={"get_all_tables": direct})

    def said(db_name: str) -> Reply:
        return reply_of(made.answer(Request.of(request("get_all_tables", 42, db_name=db_name)), SESSION))

    assert said("d").value == ["quick"]
    assert said("odd").value == ["odd"]
    assert said("bad").content.o1.message == "bad is no table"
    assert asked[0] == (SESSION, encoded(methods()["get_all_tables"].arguments(db_name="d")))

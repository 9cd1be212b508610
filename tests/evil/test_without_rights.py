"""A user without rights calls everything: nothing changes, and nothing that is stored comes back."""

from collections.abc import Iterator
from http.client import HTTPConnection
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evil.arguments import arguments
from tests.evil.calls import EVERY_CALL, SERVED, database_of, refusal
from tests.evil.dumps import dump
from tests.evil.served import Served, served
from tests.server.requests import Reply, ReplyReader, encoded, envelope

from hmstats.model.access.rule_file import parse_rules
from hmstats.server.access.call_rules import _OPEN, CALL_RULES
from hmstats.wire.idl import Method, methods
from hmstats.wire.idl import hive_metastore as api
from hmstats.wire.messages.envelope import CALL

EVERYTHING = parse_rules(
    """
    [[rule]]
    allow = ["list", "read", "read_statistics", "write_statistics", "create", "alter", "drop", "lock",
             "read_notifications", "admin"]
    """,
    "rules.toml",
)
NOTHING = parse_rules("", "rules.toml")
CANARY = "canary"
"""A part of every name and value of a database that no argument names."""


class Switched:
    """Rules that are changed by a test."""

    def __init__(self) -> None:
        self.rules = EVERYTHING

    def refresh(self) -> None:
        """Nothing to look for."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def metastore(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp(f"rights-{request.param}")
    access = Switched()
    with database_of(request.param, request, folder) as url, served(url, folder, access) as running:
        yield _hidden(running, access)


def _hidden(running: Served, access: Switched) -> Served:
    """The server with one more database, and without any rule that allows something."""
    database = api.Database(name=f"{CANARY}_db", description=CANARY, parameters={CANARY: CANARY})
    assert running.client.ask("create_database", database=database).content
    column = api.FieldSchema(name=f"{CANARY}_column", type="bigint", comment="")
    storage = api.StorageDescriptor(cols=[column], serdeInfo=api.SerDeInfo(name="", serializationLib="serde"))
    key = api.FieldSchema(name="k", type="string", comment="")
    table = api.Table(tableName=f"{CANARY}_t", dbName=f"{CANARY}_db", sd=storage, partitionKeys=[key], parameters={})
    assert running.client.ask("create_table", tbl=table).content
    assert running.client.ask("add_master_key", key=CANARY).value == 1
    role = api.Role(roleName=CANARY, createTime=0, ownerName=CANARY)
    assert running.client.ask("create_role", role=role).value
    component = api.LockComponent(type=1, level=1, dbname=f"{CANARY}_db", tablename=f"{CANARY}_t")
    lock = api.LockRequest(component=[component], user=CANARY, hostname=CANARY)
    assert running.client.ask("lock", rqst=lock).value
    assert running.client.ask("get_metastore_db_uuid").value  # the first who asks makes it
    access.rules = NOTHING
    return Served(running.client, running.engine, running.log, dump(running.engine))


def _by_http(metastore: Served, method: Method, sent: Any) -> Reply:
    host, port = metastore.client.socket.getpeername()[:2]
    connection = HTTPConnection(host, port, timeout=20)
    body = envelope(method.name, 1, CALL, encoded(sent))
    connection.request("POST", "/", body, {"Content-Type": "application/x-thrift", "x-actor-username": "root"})
    reply = ReplyReader(BytesIO(connection.getresponse().read())).next()
    connection.close()
    return reply


@pytest.mark.parametrize("name", SERVED)
@EVERY_CALL
@given(data=st.data())
def test_nothing_is_changed_or_told(metastore: Served, name: str, data: st.DataObject) -> None:
    method = methods()[name]
    sent = data.draw(arguments(method))
    for ask in (metastore.ask, lambda method, sent: _by_http(metastore, method, sent)):
        reply = ask(method, sent)
        assert not metastore.broken()
        assert CANARY not in repr(reply.content)
        refused = refusal(method, reply.content)
        if refused is None:
            assert name in _OPEN.split() or (CALL_RULES[name].shown is not None and _is_empty(reply.content.success)), (
                reply
            )
    if name not in _OPEN.split():
        assert not metastore.changed()


def _is_empty(value: Any) -> bool:
    """Whether an answer holds no object."""
    return not value if isinstance(value, list) else not any(map(_filled, vars(value).values()))


def _filled(value: Any) -> bool:
    """A flag, such as HealthResult.complete, names no object."""
    if isinstance(value, bool):
        return False
    return bool(value) if not hasattr(value, "thrift_spec") else not _is_empty(value)

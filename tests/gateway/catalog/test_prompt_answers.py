"""Kept answers that the selector's thread gives, after one question to the upstream's log."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fixtures.servers import serving as serving_gateway
from tests.gateway.gateways import upstream_of, wait_until
from tests.server.requests import request
from tests.server.serving import PATIENCE_SECONDS, Client, Gate

from hmstats.server.rpc.caller import Session
from hmstats.wire.idl import hive_metastore as api


class Upstream:
    """A Hive 4.0.1 that logs its changes, as far as table d.t is asked for, whose parameter `number` changes."""

    def __init__(self) -> None:
        self.number = 0
        self.events = 7
        self.asked_for_table = self.asked_for_number = 0
        self.gate = Gate()
        self.hangs = False
        self.go = threading.Event()

    def change(self) -> str:
        """Change the table, and log it. Returns its new number."""
        self.number += 1
        self.events += 1
        return str(self.number)

    def table(self, session: Session, req: object) -> object:
        self.asked_for_table += 1
        table = api.Table(dbName="d", tableName="t", parameters={"number": str(self.number)}, partitionKeys=[])
        return api.GetTableResult(table=table)

    def last_number(self, session: Session) -> object:
        self.asked_for_number += 1
        if self.hangs:
            self.go.wait(PATIENCE_SECONDS)
        return api.CurrentNotificationEventId(eventId=self.events)

    def next_events(self, session: Session, rqst: object) -> object:
        after = getattr(rqst, "lastEvent")  # noqa: B009 - a struct of the API has no type
        events = [
            api.NotificationEvent(
                eventId=each, eventTime=0, eventType="ALTER_PARTITION", dbName="d", tableName="t", message="{}"
            )
            for each in range(after + 1, self.events + 1)
        ]
        return api.NotificationEventResponse(events=events)

    @contextlib.contextmanager
    def served(self) -> Iterator[int]:
        """Its port."""
        with upstream_of(
            getName=lambda session: "metastore",
            getVersion=lambda session: "4.0.1",
            get_metastore_db_uuid=lambda session: "0c5f4d2e",
            get_config_value=lambda session, **names: "org.example.DbNotificationListener",
            get_current_notificationEventId=self.last_number,
            get_next_notification=self.next_events,
            get_table_req=self.table,
            get_all_databases=self.gate,
        ) as (_, port):
            yield port


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@contextlib.contextmanager
def gateway_to(folder: Path, port: int) -> Iterator[tuple[str, int]]:
    """The address of a gateway with one thread for relayed calls, whose log in the folder has each call."""
    settings = {"log_level": "debug", "workers": 1, "upstream_connections": 1}
    with serving_gateway(folder, "--upstream", f"thrift://127.0.0.1:{port}", settings=settings) as here:
        yield "127.0.0.1", here


def ask(client: Client) -> str:
    """The table's number, as a client gets it."""
    client.send(request("get_table_req", 1, req=api.GetTableRequest(dbName="d", tblName="t")))
    found = client.reply().value
    assert found.table is not None, found
    return str(found.table.parameters["number"])


def prompt_in(folder: Path) -> int:
    """How many calls the selector's thread has answered."""
    return (folder / "server.log").read_text().count('"method": "get_table_req", "outcome": "cached"')


def become_prompt(client: Client, folder: Path) -> None:
    """Return when the selector's thread answers."""

    def is_prompt() -> bool:
        before = prompt_in(folder)
        ask(client)
        return prompt_in(folder) > before

    wait_until(is_prompt)


def test_a_kept_answer_comes_while_no_thread_is_free(upstream: Upstream, tmp_path: Path) -> None:
    with upstream.served() as port, gateway_to(tmp_path, port) as address, Client(address) as client:
        become_prompt(client, tmp_path)
        with Client(address) as waiting:
            waiting.send(request("get_all_databases"))
            upstream.gate.wait_entered()
            assert [ask(client) for _ in range(3)] == ["0"] * 3
            upstream.gate.open()
            assert waiting.reply().value == ["let go"]


def test_each_change_is_seen_by_the_next_question(upstream: Upstream, tmp_path: Path) -> None:
    with upstream.served() as port, gateway_to(tmp_path, port) as address, Client(address) as client:
        become_prompt(client, tmp_path)
        before, asked = prompt_in(tmp_path), upstream.asked_for_table
        for _ in range(20):
            number = upstream.change()
            assert [ask(client) for _ in range(3)] == [number] * 3
        assert upstream.asked_for_table == asked + 20
        wait_until(lambda: prompt_in(tmp_path) >= before + 40)  # a line of the log comes behind its reply


def test_another_users_answer_is_not_given(upstream: Upstream, tmp_path: Path) -> None:
    with upstream.served() as port, gateway_to(tmp_path, port) as address, Client(address) as client:
        become_prompt(client, tmp_path)
        with Client(address) as other:
            other.send(request("set_ugi", user_name="anna", group_names=["crew"]))
            other.reply()
            asked = upstream.asked_for_table
            ask(other)
            assert upstream.asked_for_table == asked + 1


def test_clients_that_ask_together_share_a_question(upstream: Upstream, tmp_path: Path) -> None:
    """Seven clients ask while the upstream is asked for an eighth: what it is asked next proves the answers of all."""
    with upstream.served() as port, gateway_to(tmp_path, port) as address, contextlib.ExitStack() as stack:
        first, *others = [stack.enter_context(Client(address)) for _ in range(8)]
        become_prompt(first, tmp_path)
        table = request("get_table_req", 1, req=api.GetTableRequest(dbName="d", tblName="t"))
        before, upstream.hangs = upstream.asked_for_number, True
        for each in (first, *others):
            each.send(table)
            wait_until(lambda: upstream.asked_for_number > before)
        upstream.go.set()
        assert [each.reply().value.table.parameters["number"] for each in (first, *others)] == ["0"] * 8
        # One more, if a busy selector learns of a client only behind the first answer.
        assert upstream.asked_for_number - before <= 3


def test_each_client_sees_what_was_changed_before_its_question(upstream: Upstream, tmp_path: Path) -> None:
    with upstream.served() as port, gateway_to(tmp_path, port) as address, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Client(address)) for _ in range(8)]
        become_prompt(clients[0], tmp_path)

        def follow(client: Client) -> int:
            least = 0
            for _ in range(100):
                least = max(least, upstream.number)
                found = int(ask(client))
                assert found >= least
                least = found
            return least

        with ThreadPoolExecutor(8) as threads:
            running = [threads.submit(follow, each) for each in clients]
            while not all(each.done() for each in running):
                upstream.change()
                threading.Event().wait(0.02)
            assert max(each.result() for each in running) <= upstream.number


def test_when_a_question_gets_no_answer_a_thread_asks(upstream: Upstream, tmp_path: Path) -> None:
    """Until then five seconds pass. Afterwards there is a new line."""
    with upstream.served() as port, gateway_to(tmp_path, port) as address, Client(address) as client:
        become_prompt(client, tmp_path)
        upstream.hangs = True
        client.send(request("get_table_req", 1, req=api.GetTableRequest(dbName="d", tblName="t")))
        wait_until(lambda: "version_line_lost" in (tmp_path / "server.log").read_text())
        upstream.hangs = False
        upstream.go.set()
        assert client.reply().value.table.parameters["number"] == "0"
        become_prompt(client, tmp_path)

"""Trino with Kerberos and impersonation: a delegation token for each of its users, and a new one for a stale one."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from tests.clients.kerberos_sessions import guarded_hive, krb5
from tests.engines.test_planners import planner
from tests.fixtures import java_peers
from tests.fixtures.identity.kerberos import REALM, SERVICE, Kerberos
from tests.fixtures.servers import serving
from tests.peers import launch

pytestmark = [pytest.mark.engines, pytest.mark.slow]

PATIENCE_SECONDS = 180.0
Acting = Callable[[int], AbstractContextManager[int]]
PROXIES = {"alice": {"users": ["b*", "x"], "hosts": ["127.0.0.1"]}}


@pytest.fixture
def server(kerberos: Kerberos, tmp_path: Path) -> Iterator[int]:
    """A server at which alice, whose ticket Trino has, may act as bob and x."""
    given: dict[str, object] = {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "proxy_users": json.dumps(PROXIES),
        "exclusive": "false",
        "audit": "all",
        "audit_file": tmp_path / "audit.jsonl",
    }
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}
    with serving(tmp_path, settings=given, environment=environment) as port:
        yield port


@pytest.fixture
def acting(kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Acting:
    """Starts a Trino that has the ticket of alice and acts as its users; its port."""
    java_peers.need("Trino", 25, 99)
    properties = {
        "hive.metastore.authentication.type": "KERBEROS",
        "hive.metastore.service.principal": SERVICE,
        "hive.metastore.client.principal": f"alice@{REALM}",
        "hive.metastore.client.keytab": kerberos.keytab("alice"),
        "hive.metastore.thrift.impersonation.enabled": "true",
    }

    @contextmanager
    def start(metastore: int) -> Iterator[int]:
        with monkeypatch.context() as only:
            only.setenv("JAVA_TOOL_OPTIONS", krb5(kerberos))
            with planner("trino", metastore, tmp_path, *(f"{key}={value}" for key, value in properties.items())) as url:
                yield int(url.rpartition(":")[2])

    return start


def ask(port: int, user: str, sql: str) -> list[Any]:
    return launch.query(port, sql, {"X-Trino-User": user, "X-Trino-Catalog": "hive"}, timeout_seconds=120)


def asked_in_the_end(port: int, user: str, sql: str) -> list[Any]:
    """The answer of a Trino that has a stale token: it asks for no new one before the old one is a minute old."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask(port, user, sql)
        except RuntimeError:
            assert time.monotonic() < until


def recorded(folder: Path) -> set[tuple[str | None, ...]]:
    """Each call's user, the one that acts as it, and how that was proven."""
    records = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    return {(each["principal"], each["via"], each["mechanism"]) for each in records}


def test_each_user_has_its_own_token_and_a_stale_one_is_replaced(acting: Acting, server: int, tmp_path: Path) -> None:
    with acting(server) as trino:
        for user in ("bob", "x"):
            assert ["default"] in ask(trino, user, "show schemas")
        of_users = {("bob", "alice", "delegation_token"), ("x", "alice", "delegation_token")}
        assert recorded(tmp_path) == {("alice", None, "kerberos")} | of_users
        with pytest.raises(RuntimeError, match=r"alice may not act as carl from 127\.0\.0\.1"):
            ask(trino, "carl", "show schemas")
        engine = create_engine(f"sqlite:///{tmp_path}/hmstats.sqlite")
        with engine.begin() as connection:
            assert connection.execute(text('DELETE FROM "HMSTATS_DELEGATION_TOKEN"')).rowcount == len(of_users)
        engine.dispose()
        assert ["default"] in asked_in_the_end(trino, "bob", "show schemas")
        assert ask(trino, "bob", "create schema made") == []
        assert ["made"] in ask(trino, "bob", "show schemas")


def test_a_real_hive_gives_each_user_its_own_token_too(acting: Acting, kerberos: Kerberos, tmp_path: Path) -> None:
    proxies = {"hadoop.proxyuser.alice.users": "bob,x", "hadoop.proxyuser.alice.hosts": "*"}
    (tmp_path / "hive").mkdir()
    with guarded_hive(kerberos, tmp_path / "hive", proxies) as metastore, acting(metastore) as trino:
        for user in ("bob", "x"):
            assert ["default"] in ask(trino, user, "show schemas")
        with pytest.raises(RuntimeError, match=r"alice.* is not allowed to impersonate carl"):
            ask(trino, "carl", "show schemas")
        assert ask(trino, "bob", "create schema made") == []
        assert ["made"] in ask(trino, "x", "show schemas")

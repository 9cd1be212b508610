"""Delegation tokens with clients of others: those of Hive 4.0.1 and 3.1.3, and Spark SQL that a proxy user starts."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest
from tests.fixtures.identity.kerberos import SERVICE, Kerberos
from tests.fixtures.servers import serving
from tests.peers import start_hive
from tests.peers.hive_engine.jars import compiled

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven

SOURCE = Path(start_hive.HERE) / "hive_sasl" / "TokenClient.java"
PROXIES = {"alice": {"users": ["b*"], "hosts": ["127.0.0.1"]}}
CORE_SITE = """<configuration>
  <property><name>hadoop.security.authentication</name><value>kerberos</value></property>
</configuration>"""
UNKNOWN = "the delegation token is unknown, cancelled or expired"
STALE = f"{UNKNOWN}, or its proof is wrong"

Ask = Callable[..., str]


@contextmanager
def asking(kerberos: Kerberos, folder: Path, protection: str = "authentication", release: str = "4.0") -> Iterator[Ask]:
    """Sends commands to the client of a release of Hive, and returns its answers."""
    absent = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if absent:
        pytest.skip(f"Hive's client needs {' and '.join(absent)}, not found on this machine")
    jars = start_hive.class_path(release, folder, "derby")
    classes = compiled(f"hive-token-{release}", [SOURCE], jars)
    config = f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}"
    options = ["-XX:TieredStopAtLevel=1", config, "-cp", os.pathsep.join([classes, *jars])]
    command = [start_hive.JAVA, *options, "TokenClient", SERVICE, protection]
    pipe = subprocess.PIPE
    log = folder / "client.log"
    with log.open("w") as file, subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=file, text=True) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        sent, said = client.stdin, client.stdout

        def answer(*beginnings: str) -> str:
            line = next((each for each in said if each.startswith(beginnings)), None)
            assert line is not None, log.read_text()[-3_000:]
            return line.rstrip("\n")

        def ask(*words: object) -> str:
            sent.write(" ".join(map(str, words)) + "\n")
            sent.flush()
            return answer("ok ", "refused ")

        answer("ready")
        yield ask
        sent.close()


@pytest.fixture(scope="module", params=["4.0", "3.1"])
def ask(request: pytest.FixtureRequest, kerberos: Kerberos, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    with asking(kerberos, tmp_path_factory.mktemp("client"), release=request.param) as found:
        yield found


@pytest.fixture
def started(kerberos: Kerberos, tmp_path: Path) -> Callable[..., Any]:
    """Starts a server; all that a test starts share a database."""

    def start(name: str, **settings: object) -> Any:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        given = {
            "authentication": '["kerberos"]',
            "kerberos_keytab": kerberos.keytab("hive"),
            "kerberos_principal": SERVICE,
            "proxy_users": json.dumps(PROXIES),
            "audit": "all",
            "audit_file": tmp_path / "audit.jsonl",
            **settings,
        }
        environment = {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}
        database = f"sqlite:///{tmp_path}/hmstats.sqlite"
        return serving(folder, database=database, settings=given, environment=environment)

    return start


def recorded(folder: Path) -> set[tuple[str, str | None, str]]:
    """The users of all calls, as whom they act, and how they were proven."""
    records = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    return {(each["principal"], each["via"], each["mechanism"]) for each in records}


def got(ask: Ask, *words: object) -> str:
    """The token that a client got."""
    answer = ask("get", *words)
    assert answer.startswith("ok "), answer
    return answer.removeprefix("ok ")


def test_a_token_is_good_on_every_server_and_after_a_restart_until_it_is_cancelled(
    ask: Ask, kerberos: Kerberos, started: Callable[..., Any], tmp_path: Path
) -> None:
    alice = ("alice", kerberos.keytab("alice"))
    with started("first", workers=2) as port:
        token = got(ask, port, *alice, "alice", "bob")
        assert ask("use", port, token) == "ok default"
    assert recorded(tmp_path) == {("alice", None, "kerberos"), ("alice", None, "delegation_token")}
    with started("first") as first:
        assert ask("use", first, token) == "ok default"
        assert ask("renew", first, "bob", kerberos.keytab("bob"), token).startswith("ok 1")
        assert "only its renewer may" in ask("renew", first, *alice, token)
        assert "its user must be proven by kerberos, found delegation_token" in ask("buy", first, token, "alice")
        with started("second", exclusive="false") as second:
            assert ask("use", second, token) == "ok default"
            assert ask("cancel", second, *alice, token) == "ok "
        assert STALE in ask("use", first, token)
        assert UNKNOWN in ask("cancel", first, *alice, token)


def test_a_token_of_another_is_for_proxy_users(
    ask: Ask, kerberos: Kerberos, started: Callable[..., Any], tmp_path: Path
) -> None:
    bobs = ("bob", kerberos.keytab("bob"))
    with started("one") as port:
        token = got(ask, port, "alice", kerberos.keytab("alice"), "bob", "bob")
        assert ask("use", port, token) == "ok default"
        assert ("bob", "alice", "delegation_token") in recorded(tmp_path)
        refused = ask("get", port, *bobs, "alice", "alice")
        assert "bob may not act as alice from 127.0.0.1: the setting proxy_users does not allow it" in refused
        assert ask("leave", port, token) == "ok "
        assert STALE in ask("use", port, token)


def test_a_token_expires_and_a_wrong_password_is_refused(
    ask: Ask, kerberos: Kerberos, started: Callable[..., Any]
) -> None:
    alice = ("alice", kerberos.keytab("alice"))
    with started("short", delegation_token_renew_hours=0.0000001) as port:
        assert STALE in ask("use", port, got(ask, port, *alice, "alice", "alice"))
    with started("long") as port:
        token = got(ask, port, *alice, "alice", "alice")
        assert ask("use", port, token) == "ok default"
        middle = len(token) // 2
        changed = token[:middle] + ("A" if token[middle] != "A" else "B") + token[middle + 1 :]
        assert STALE in ask("use", port, changed)


def test_master_keys_are_refused(ask: Ask, kerberos: Kerberos, started: Callable[..., Any]) -> None:
    with started("one") as port:
        answer = ask("keys", port, "alice", kerberos.keytab("alice"))
    assert "stored tokens and master keys are for users whom access rules allow admin" in answer


def test_a_client_that_wants_integrity_has_it_behind_a_token(
    kerberos: Kerberos, started: Callable[..., Any], tmp_path: Path
) -> None:
    with asking(kerberos, tmp_path, "integrity") as ask, started("signed", protection="integrity") as port:
        token = got(ask, port, "alice", kerberos.keytab("alice"), "alice", "alice")
        assert ask("use", port, token) == "ok default"


def test_a_client_that_wants_privacy_gets_a_token_and_is_refused_with_it(
    kerberos: Kerberos, started: Callable[..., Any], tmp_path: Path
) -> None:
    with asking(kerberos, tmp_path, "privacy") as ask, started("private", protection="privacy") as port:
        token = got(ask, port, "alice", kerberos.keytab("alice"), "alice", "alice")
        refused = ask("use", port, token)
    assert "a delegation token is taken over TLS only: the setting protection is privacy" in refused


def test_spark_sql_that_a_proxy_user_starts_works_by_a_token(
    kerberos: Kerberos, started: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "core-site.xml").write_text(CORE_SITE)
    statements = "create table t as select 7 a; analyze table t compute statistics for columns a; describe extended t a"
    with started("one") as port:
        conf = {
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": str(tmp_path / "one" / "warehouse"),
            "spark.hadoop.hive.metastore.uris": f"thrift://localhost:{port}",
            "spark.hadoop.hive.metastore.sasl.enabled": "true",
            "spark.hadoop.hive.metastore.kerberos.principal": SERVICE,
            "spark.driver.extraJavaOptions": f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}",
        }
        flags = [flag for name, value in conf.items() for flag in ("--conf", f"{name}={value}")]
        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-sql"), "--proxy-user", "bob", *flags, "-e", statements]
        proof = {
            "SPARK_HOME": str(home),
            "HADOOP_CONF_DIR": str(tmp_path),
            "KRB5CCNAME": f"FILE:{kerberos.tickets('alice')}",
        }
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=tmp_path, env=os.environ | proof
        )
    assert "max\t7" in done.stdout, done.stderr[-5_000:]
    assert recorded(tmp_path) == {("alice", None, "kerberos"), ("bob", "alice", "delegation_token")}

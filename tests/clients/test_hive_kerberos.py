"""Hive 4.0.1's own client with a ticket, against `hmstats serve`: under each protection, and what is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.kerberos import SERVICE, Kerberos
from tests.fixtures.servers import serving
from tests.peers import start_hive
from tests.peers.hive_engine.jars import compiled

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven

SOURCE = Path(start_hive.HERE) / "hive_sasl" / "TicketClient.java"
LARGE_BYTES = 4_000_000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that starts Hive's client."""
    absent = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if absent:
        pytest.skip(f"Hive's client needs {' and '.join(absent)}, not found on this machine")
    jars = start_hive.class_path("4.0", tmp_path_factory.mktemp("conf"), "derby")
    classes = compiled("hive-sasl", [SOURCE], jars)
    return [start_hive.JAVA, "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join([classes, *jars])]


def settings(kerberos: Kerberos, protection: str) -> dict[str, object]:
    return {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "protection": protection,
    }


def said(client: list[str], kerberos: Kerberos, port: int, *protections: str) -> list[str]:
    """A line for each protection."""
    config = f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}"
    given = (str(port), SERVICE, "alice", kerberos.keytab("alice"), str(LARGE_BYTES), *protections)
    command = [*client[:1], config, *client[1:], "TicketClient", *given]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=kerberos.folder)
    return [line for line in done.stdout.splitlines() if line.startswith(protections)]


def importing(kerberos: Kerberos) -> dict[str, str]:
    """The environment in which a server finds gssapi, as these tests do."""
    return {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}


def test_hives_client_works_under_each_protection(client: list[str], kerberos: Kerberos, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    given = settings(kerberos, "authentication") | {"audit": "all", "audit_file": audit}
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        lines = said(client, kerberos, port, "authentication", "integrity", "privacy", "authentication,privacy")
    protections = ("authentication", "integrity", "privacy", "authentication,privacy")
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    assert {(each["principal"], each["mechanism"]) for each in records} == {("alice", "kerberos")}
    assert lines == [f"{each} {LARGE_BYTES}" for each in protections]


def test_hives_client_is_refused_below_the_least_protection(
    client: list[str], kerberos: Kerberos, tmp_path: Path
) -> None:
    given = settings(kerberos, "privacy")
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        readable, private = said(client, kerberos, port, "authentication", "privacy")
    assert readable.startswith("authentication refused: ")
    assert private == f"privacy {LARGE_BYTES}"

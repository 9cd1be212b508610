"""Clients of others with a ticket, against `hmstats serve`: Hive 4.0.1's and Spark's, under each protection."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.kerberos import SERVICE, Kerberos
from tests.fixtures.servers import HMSTATS, serving
from tests.peers import start_hive
from tests.peers.hive_engine.jars import compiled

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven

SOURCE = Path(start_hive.HERE) / "hive_sasl" / "TicketClient.java"
LARGE_BYTES = 4_000_000
CORE_SITE = """<configuration>
  <property><name>hadoop.security.authentication</name><value>kerberos</value></property>
  <property><name>hadoop.rpc.protection</name><value>privacy</value></property>
</configuration>"""
SPARK = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").getOrCreate()
session.sql("create table t as select 7 a").collect()
session.sql("analyze table t compute statistics for columns a").collect()
print("max", *[row[1] for row in session.sql("describe extended t a").collect() if row[0] == "max"])
"""


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


def audited(file: Path) -> dict[str, object]:
    return {"audit": "all", "audit_file": file}


def recorded(audit: Path) -> set[tuple[str, str]]:
    """The users of all calls, and how they were proven."""
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    return {(each["principal"], each["mechanism"]) for each in records}


def test_hives_client_works_under_each_protection(client: list[str], kerberos: Kerberos, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    given = settings(kerberos, "authentication") | audited(audit)
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        lines = said(client, kerberos, port, "authentication", "integrity", "privacy", "authentication,privacy")
    protections = ("authentication", "integrity", "privacy", "authentication,privacy")
    assert recorded(audit) == {("alice", "kerberos")}
    assert lines == [f"{each} {LARGE_BYTES}" for each in protections]


def test_hives_client_is_refused_below_the_least_protection(
    client: list[str], kerberos: Kerberos, tmp_path: Path
) -> None:
    given = settings(kerberos, "privacy")
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        readable, private = said(client, kerberos, port, "authentication", "privacy")
    assert readable.startswith("authentication refused: ")
    assert private == f"privacy {LARGE_BYTES}"


def test_our_commands_work_with_a_ticket(kerberos: Kerberos, tmp_path: Path) -> None:
    given = settings(kerberos, "privacy") | audited(tmp_path / "audit.jsonl")
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        command = [HMSTATS, "ping", "--metastore", f"thrift://localhost:{port}", "--json"]
        proof = {"HMSTATS__METASTORE_PRINCIPAL": SERVICE, "KRB5CCNAME": f"FILE:{kerberos.tickets('alice')}"}
        environment = os.environ | importing(kerberos) | proof
        pinged = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    assert json.loads(pinged.stdout)["alive"]
    assert recorded(tmp_path / "audit.jsonl") == {("alice", "kerberos")}


def test_sparks_own_client_reads_and_writes_statistics_in_private(kerberos: Kerberos, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    (tmp_path / "core-site.xml").write_text(CORE_SITE)
    (tmp_path / "session.py").write_text(SPARK)
    given = settings(kerberos, "privacy") | audited(audit)
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        conf = {
            "spark.ui.enabled": "false",
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.uris": f"thrift://localhost:{port}",
            "spark.hadoop.hive.metastore.sasl.enabled": "true",
            "spark.hadoop.hive.metastore.kerberos.principal": SERVICE,
            "spark.driver.extraJavaOptions": f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}",
            "spark.kerberos.principal": "alice",
            "spark.kerberos.keytab": kerberos.keytab("alice"),
        }
        flags = [flag for name, value in conf.items() for flag in ("--conf", f"{name}={value}")]
        environment = os.environ | {"HADOOP_CONF_DIR": str(tmp_path), "PYSPARK_PYTHON": sys.executable}
        command = [str(Path(sys.executable).parent / "spark-submit"), *flags, str(tmp_path / "session.py")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.stdout.splitlines()[-1:] == ["max 7"], done.stderr[-3_000:]
    assert recorded(audit) == {("alice", "kerberos")}

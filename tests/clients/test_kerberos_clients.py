"""Clients of others with a ticket, against `hmstats serve`: Hive's and Spark's, under each protection."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.clients.kerberos_sessions import hives_client, importing, krb5
from tests.fixtures.debian import find_module
from tests.fixtures.identity.kerberos import SERVICE, Kerberos
from tests.fixtures.servers import HMSTATS, serving
from tests.peers.cache import CACHE

from hmstats.client import connect
from hmstats.client.connection.credentials import credentials
from hmstats.errors import CallRefused

pytestmark = pytest.mark.slow  # needs a KDC, Java and Maven

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


@pytest.fixture(scope="module", params=["4.0", "3.1"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that starts the client of Hive 4.0.1, or 3.1.3."""
    return hives_client(request.param, tmp_path_factory.mktemp("conf"))


def settings(kerberos: Kerberos, protection: str) -> dict[str, object]:
    return {
        "authentication": '["kerberos"]',
        "kerberos_keytab": kerberos.keytab("hive"),
        "kerberos_principal": SERVICE,
        "protection": protection,
    }


def said(client: list[str], kerberos: Kerberos, port: int, *protections: str) -> list[str]:
    """A line for each protection."""
    given = (str(port), SERVICE, "alice", kerberos.keytab("alice"), str(LARGE_BYTES), *protections)
    command = [*client[:1], krb5(kerberos), *client[1:], "TicketClient", *given]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=kerberos.folder)
    return [line for line in done.stdout.splitlines() if line.startswith(protections)]


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


PYICEBERG = """
import sys
from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
given = {"type": "hive", "uri": sys.argv[1], "warehouse": sys.argv[2], "hive.kerberos-authentication": "true"}
catalog = load_catalog("c", **given)
catalog.create_table("default.t", Schema(NestedField(1, "a", LongType())))
print(catalog.list_tables("default"))
"""


def test_pyiceberg_works_with_a_ticket(kerberos: Kerberos, tmp_path: Path) -> None:
    cache = CACHE / "kerberos" / "pyiceberg"
    find_module("kerberos", "kerberos", "python3-kerberos", cache, ["python3-kerberos"])
    audit = tmp_path / "audit.jsonl"
    (tmp_path / "session.py").write_text(PYICEBERG)
    given = settings(kerberos, "privacy") | audited(audit)
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        environment = os.environ | importing(kerberos) | {"KRB5CCNAME": f"FILE:{kerberos.tickets('alice')}"}
        command = [sys.executable, "session.py", f"thrift://localhost:{port}", str(tmp_path / "warehouse")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.stdout == "[('default', 't')]\n", done.stderr[-3_000:]
    assert recorded(audit) == {("alice", "kerberos")}


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


ANALYSIS = """
import sys
from pyspark.sql import SparkSession
import hmstats
session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = session.range(20).selectExpr("id a", "id % 3 k")
frame.write.partitionBy("k").parquet(sys.argv[1])
metastore = sys.argv[2]
with hmstats.connect(metastore) as service:
    from hmstats.wire.idl import hive_metastore as api
    serde = api.SerDeInfo(serializationLib="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", parameters={})
    def storage(location):
        return api.StorageDescriptor(
            cols=[api.FieldSchema(name="a", type="bigint")],
            location=location,
            inputFormat="org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
            outputFormat="org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
            serdeInfo=serde,
            parameters={},
        )
    keys = [api.FieldSchema(name="k", type="bigint")]
    table = api.Table(
        dbName="default", tableName="t", tableType="EXTERNAL_TABLE", parameters={"EXTERNAL": "TRUE"},
        sd=storage(sys.argv[1]), partitionKeys=keys,
    )
    service._connection.call("create_table", table)
    parts = [
        api.Partition(
            values=[str(k)], dbName="default", tableName="t", sd=storage(f"{sys.argv[1]}/k={k}"), parameters={}
        )
        for k in range(3)
    ]
    service._connection.call("add_partitions", parts)
report = hmstats.analyze(session, "default.t", metastore=metastore)
print("rows", report.rows)
print("wrong", len(hmstats.check(session, "default.t", metastore=metastore, sample_fraction=1.0).wrong))
"""


def test_tasks_of_an_analysis_have_a_token_and_no_ticket(kerberos: Kerberos, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    (tmp_path / "analysis.py").write_text(ANALYSIS)
    given = settings(kerberos, "integrity") | audited(audit)
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        proof = {"HMSTATS__METASTORE_PRINCIPAL": SERVICE, "KRB5CCNAME": f"FILE:{kerberos.tickets('alice')}"}
        environment = os.environ | importing(kerberos) | proof | {"PYSPARK_PYTHON": sys.executable}
        given_to = [str(tmp_path / "data"), f"thrift://localhost:{port}"]
        command = [sys.executable, str(tmp_path / "analysis.py"), *given_to]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.stdout.splitlines()[-2:] == ["rows 20", "wrong 0"], done.stderr[-3_000:]
    by: dict[str, set[tuple[str, str]]] = {}
    for line in audit.read_text().splitlines():
        record = json.loads(line)
        by.setdefault(record["call"], set()).add((record["principal"], record["mechanism"]))
    of_tasks = {("alice", "delegation_token")}
    assert by["get_delegation_token"] == by["cancel_delegation_token"] == {("alice", "kerberos")}
    assert by["set_statistics"] >= of_tasks
    assert {call for call, users in by.items() if users & of_tasks} >= {"set_statistics", "set_ugi"}


def test_a_token_that_is_handed_over_outlives_the_time_between_renewals(
    kerberos: Kerberos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{kerberos.tickets('alice')}")
    monkeypatch.setenv("HMSTATS__METASTORE_PRINCIPAL", SERVICE)
    life_seconds = 4.0
    given = settings(kerberos, "integrity") | {"delegation_token_renew_hours": life_seconds / 3_600}
    with serving(tmp_path, settings=given, environment=importing(kerberos)) as port:
        uri = f"thrift://localhost:{port}"
        with connect(uri, retries=0) as service:
            with service.handing_over() as handed:
                until = time.monotonic() + 3 * life_seconds
                while time.monotonic() < until:
                    with connect(uri, retries=0, credentials=credentials(handed)) as task:
                        assert task._connection.call("get_all_databases") == ["default"]
                    time.sleep(0.5)
            task = connect(uri, retries=0, credentials=credentials(handed))
            with task, pytest.raises(CallRefused, match="delegation token"):
                task._connection.call("get_all_databases")

"""Sessions of real clients with a file of tickets, each of which lists databases, and metastores that want a ticket."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.fixtures.debian import find_module
from tests.fixtures.hive import hive
from tests.fixtures.identity.kerberos import SERVICE, Kerberos
from tests.peers import start_hive
from tests.peers.cache import CACHE
from tests.peers.hive_engine.jars import compiled

SOURCE = Path(start_hive.HERE) / "hive_sasl" / "TicketClient.java"
HADOOP = {
    "hadoop.security.authentication": "kerberos",
    "hadoop.rpc.protection": "authentication,integrity,privacy",
}
NOTHING_MORE: Mapping[str, str] = MappingProxyType({})
LISTED = "databases: default"
"""What each session prints once it was answered."""
SPARK = """
from pyspark.sql import SparkSession
session = SparkSession.builder.master("local[1]").getOrCreate()
print("databases:", *[row[0] for row in session.sql("show databases").collect()])
"""
PYICEBERG = """
import sys
from pyiceberg.catalog import load_catalog
catalog = load_catalog("c", type="hive", uri=sys.argv[1], **{"hive.kerberos-authentication": "true"})
print("databases:", *[name for (name,) in catalog.list_namespaces()])
"""
OURS = """
import sys
import hmstats
with hmstats.connect(sys.argv[1], retries=0) as service:
    print("databases:", *service._connection.call("get_all_databases"))
"""

Session = Callable[[Kerberos, Path, int, str], str]
"""With the KDC, a folder, the metastore's port and the file of tickets: all that the client says."""


def importing(kerberos: Kerberos) -> dict[str, str]:
    """The environment in which a program finds gssapi, as these tests do."""
    return {"PYTHONPATH": os.pathsep.join(sys.path), "KRB5_CONFIG": kerberos.environment["KRB5_CONFIG"]}


def hives_client(release: str, conf: Path) -> list[str]:
    """The command that starts the client of a release of Hive; skips where it cannot be had."""
    absent = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if absent:
        pytest.skip(f"Hive's client needs {' and '.join(absent)}, not found on this machine")
    jars = start_hive.class_path(release, conf, "derby")
    classes = compiled(f"hive-sasl-{release}", [SOURCE], jars)
    return [start_hive.JAVA, "-XX:TieredStopAtLevel=1", "-cp", os.pathsep.join([classes, *jars])]


@contextmanager
def guarded_hive(kerberos: Kerberos, folder: Path, more: Mapping[str, str] = NOTHING_MORE) -> Iterator[int]:
    """The port of a Hive Metastore 4.0.1 that wants a ticket, with more settings of Hadoop."""
    (folder / "conf").mkdir()
    write_core_site(folder / "conf", more)
    settings = [
        start_hive.SASL,
        f"metastore.kerberos.principal={SERVICE}",
        f"metastore.kerberos.keytab.file={kerberos.keytab('hive')}",
        *(f"{name}={value}" for name, value in {**HADOOP, **more}.items()),
    ]
    with hive("4.0", folder, *settings, java_options=[krb5(kerberos)]) as port:
        yield port


def write_core_site(folder: Path, more: Mapping[str, str] = NOTHING_MORE) -> None:
    """Write the file from which Hadoop's login learns that there is Kerberos."""
    properties = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in {**HADOOP, **more}.items()
    )
    (folder / "core-site.xml").write_text(f"<configuration>{properties}</configuration>")


def krb5(kerberos: Kerberos) -> str:
    """The option by which Java finds the KDC."""
    return f"-Djava.security.krb5.conf={kerberos.folder / 'krb5.conf'}"


def said_by_hives_client(release: str) -> Session:
    """The session of Hive's own client of a release."""

    def session(kerberos: Kerberos, folder: Path, port: int, tickets: str) -> str:
        java, *options = hives_client(release, folder)
        command = [java, krb5(kerberos), *options, "TicketClient", str(port), SERVICE]
        return _said(command, folder, {"KRB5CCNAME": tickets})

    return session


def said_by_spark(kerberos: Kerberos, folder: Path, port: int, tickets: str) -> str:
    """The session of a stock Spark."""
    write_core_site(folder)
    (folder / "session.py").write_text(SPARK)
    conf = {
        "spark.ui.enabled": "false",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": f"thrift://localhost:{port}",
        "spark.hadoop.hive.metastore.sasl.enabled": "true",
        "spark.hadoop.hive.metastore.kerberos.principal": SERVICE,
        "spark.hadoop.hive.metastore.connect.retries": "1",
        "spark.driver.extraJavaOptions": krb5(kerberos),
    }
    flags = [flag for name, value in conf.items() for flag in ("--conf", f"{name}={value}")]
    environment = {"HADOOP_CONF_DIR": str(folder), "PYSPARK_PYTHON": sys.executable, "KRB5CCNAME": tickets}
    command = [str(Path(sys.executable).parent / "spark-submit"), *flags, str(folder / "session.py")]
    return _said(command, folder, environment)


def said_by_pyiceberg(kerberos: Kerberos, folder: Path, port: int, tickets: str) -> str:
    """The session of PyIceberg."""
    find_module("kerberos", "kerberos", "python3-kerberos", CACHE / "kerberos" / "pyiceberg", ["python3-kerberos"])
    command = [sys.executable, "-c", PYICEBERG, f"thrift://localhost:{port}"]
    return _said(command, folder, importing(kerberos) | {"KRB5CCNAME": f"FILE:{tickets}"})


def said_by_ours(kerberos: Kerberos, folder: Path, port: int, tickets: str) -> str:
    """The session of our own client."""
    command = [sys.executable, "-c", OURS, f"thrift://localhost:{port}"]
    proof = {"KRB5CCNAME": f"FILE:{tickets}", "HMSTATS__METASTORE_PRINCIPAL": SERVICE}
    return _said(command, folder, importing(kerberos) | proof)


SESSIONS: Mapping[str, Session] = {
    "hive-4.0.1": said_by_hives_client("4.0"),
    "hive-3.1.3": said_by_hives_client("3.1"),
    "spark": said_by_spark,
    "pyiceberg": said_by_pyiceberg,
    "hmstats": said_by_ours,
}


def _said(command: list[str], folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=os.environ | environment, timeout=300
    )
    return done.stdout + done.stderr

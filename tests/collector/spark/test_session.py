"""A Spark for commands."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.collector.parted import NAMES, ROWS, parted
from tests.fixtures.identity.authorities import Files, issued
from tests.fixtures.servers import HMSTATS, serving

from hmstats.client import connect
from hmstats.collector.spark.session import cores_of, session_is_given, spark_session
from hmstats.errors import SettingsError
from hmstats.java import java_path


@pytest.mark.parametrize(
    ("master", "cores"),
    [
        ("local", 1),
        ("local[4]", 4),
        ("local[2, 3]", 2),
        ("local[*]", os.cpu_count()),
        ("local[*,2]", os.cpu_count()),
        ("local-cluster[2,1,1024]", None),
        ("spark://host:7077", None),
        ("yarn", None),
    ],
)
def test_the_cores_of_a_master(master: str, cores: int | None) -> None:
    assert cores_of(master) == cores


@pytest.mark.spark
def test_an_active_session_is_used_and_left_running(spark: Any) -> None:
    assert session_is_given()
    with spark_session(None, master="local[7]", conf={"spark.sql.shuffle.partitions": "3"}) as found:
        assert found.sparkContext is spark.sparkContext
        assert found.conf.get("spark.sql.shuffle.partitions") == "3"
    assert spark.range(3).count() == 3
    spark.conf.set("spark.sql.shuffle.partitions", "2")


def test_without_java_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from hmstats.collector.spark.session import local_session

    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(SettingsError, match="needs Java 17 or newer, found none at /nowhere/bin/java"):
        local_session("thrift://127.0.0.1:1")


def test_a_user_without_a_name_is_told_what_java_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    from hmstats.collector.spark.session import local_session

    monkeypatch.setattr("hmstats.collector.spark.session.has_name", lambda: False)
    with pytest.raises(SettingsError, match=r"^Spark cannot run as user .*: add a line for the user to /etc/passwd$"):
        local_session("thrift://127.0.0.1:1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--master", "local[0]"], ("local[0]", "Asked to run locally with 0 threads")),
        (["--master", "nonsense"], ("nonsense", "its Java process ended, and says why above")),
        (["--conf", "spark.sql.shuffle.partitions=abc"], ("local[*]", 'in the config "spark.sql.shuffle.partitions"')),
    ],
    ids=["threads", "master", "setting"],
)
def test_a_spark_that_does_not_start_is_one_sentence(
    tmp_path: Path, options: list[str], expected: tuple[str, str]
) -> None:
    with serving(tmp_path) as port:
        name = parted(port, tmp_path / "data", ("number",))
        command = [HMSTATS, "analyze", name.short, "--metastore", f"thrift://127.0.0.1:{port}", *options]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr
    master, reason = expected
    said = run.stderr.splitlines()[-1]
    assert said.startswith(f"hmstats: Spark with master {master} does not start: ")
    assert reason in said


@pytest.mark.parametrize("metastore", ["http://h:9083", "thrift+tls://h:9083,thrift://i:9083"])
def test_what_sparks_own_client_cannot_reach_is_refused(metastore: str) -> None:
    from hmstats.collector.spark.session import local_session

    with pytest.raises(SettingsError, match="Spark's own client needs addresses thrift://HOST:PORT"):
        local_session(metastore)


@pytest.mark.slow
def test_spark_and_the_collector_speak_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path) as port:
        name = parted(port, tmp_path / "data", ("number",))
    files = issued(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", files.authority)
    settings = {"tls": "require", "tls_certificate": files.certificate, "tls_key": files.key}
    with serving(tmp_path, settings=settings) as port, connect(f"thrift+tls://localhost:{port}") as service:
        command = [HMSTATS, "analyze", f"{name.database}.t", "--metastore", f"thrift+tls://localhost:{port}"]
        run = subprocess.run(
            [*command, *_trusting(files, tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        found = service.find_table(name)
    assert found is not None
    assert found.parameters["numRows"] == str(ROWS * len(NAMES))


def _trusting(files: Files, folder: Path) -> list[str]:
    """The options by which Java trusts what the authority signs."""
    java = java_path()
    assert java is not None
    store = str(folder / "trusted.jks")
    keytool = str(java.resolve().with_name("keytool"))
    made = [keytool, "-importcert", "-noprompt", "-alias", "ca", "-file", files.authority, "-keystore", store]
    subprocess.run([*made, "-storepass", "changeit"], check=True, capture_output=True)
    setting = "spark.hadoop.hive.metastore.truststore"
    return ["--conf", f"{setting}.path={store}", "--conf", f"{setting}.password=changeit"]

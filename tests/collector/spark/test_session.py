"""A Spark for commands."""

import os
from typing import Any

import pytest

from hmstats.collector.spark.session import cores_of, session_is_given, spark_session
from hmstats.errors import SettingsError


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

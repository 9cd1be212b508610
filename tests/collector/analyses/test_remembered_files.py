"""Files that came after a session looked at their table are read too: what is stored is of the files that it names."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from hmstats.collector import analyze, check

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FORMS = {
    "csv": "(a STRING) USING csv",
    "keyed": "(a STRING, k INT) USING csv PARTITIONED BY (k)",
    "orc": "(a STRING, t TIMESTAMP) USING orc",
    "hive": "(a STRING) STORED AS TEXTFILE",
    "cached": "(a STRING) USING json",
    "seen": "(a STRING) USING json",
}
PLAIN = "'x'"
VALUES = {"keyed": "'x', 1", "orc": "'x', TIMESTAMP '2020-01-01 00:00:00'"}


@pytest.mark.parametrize("form", FORMS)
def test_files_that_came_since_the_session_looked(spark: Any, spark_metastore: str, tmp_path: Path, form: str) -> None:
    table = read = f"default.remembered_{form}"
    external = "EXTERNAL" if form == "hive" else ""
    spark.sql(f"CREATE {external} TABLE {table} {FORMS[form]} LOCATION '{tmp_path}/t'")
    spark.sql(f"INSERT INTO {table} SELECT {VALUES.get(form, PLAIN)}")
    if form == "seen":
        read = f"{table}_view"
        spark.sql(f"CREATE VIEW {read} AS SELECT * FROM {table}")
    if form == "cached":
        spark.table(table).cache()
    assert spark.table(read).count() == 1
    (file,) = (each for each in (tmp_path / "t").rglob("part-*"))
    shutil.copy(file, file.with_name(f"part-of-another{file.suffix}"))
    assert analyze(spark, read).rows == 2
    assert analyze(spark, read, changed_only=True).rows == (2 if form == "seen" else 0)
    assert check(spark, read, sample_fraction=1).wrong == ()
    assert spark.catalog.isCached(table) == (form == "cached")

"""The commands for people as processes: bad input is one sentence and exit code 2, and a pipe may close early."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.metastores import Metastore
from tests.fixtures.servers import HMSTATS

from hmstats import client
from hmstats.model.catalog.objects import TableName
from hmstats.model.statistics.column_statistics import ColumnStatistics, LongStatistics, StatisticsSet

pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


def environment(metastore: Metastore) -> dict[str, str]:
    return {**os.environ, "HMSTATS__METASTORE": f"thrift://127.0.0.1:{metastore.port}", "NO_COLOR": "1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["show", "nope"], "hmstats: table default.nope is not in the metastore at thrift://"),
        (["describe", "DESCRIBE nope PARTITION"], "hmstats: the statement cannot be read at its end; the form is"),
        (["describe", " "], "hmstats: the statement cannot be read at its end; the form is"),
        (["ask", "count", "nope"], "hmstats: table default.nope is not in the metastore at thrift://"),
        (["compare", "nope", "nope"], "hmstats: table default.nope is not in the metastore at thrift://"),
        (["export", "x.parquet", "nope"], "hmstats: tables must be named as DB.TABLE or DB.*, found 'nope'"),
        (["import", "nope.parquet"], "hmstats: nope.parquet cannot be read: No such file"),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_2(
    our_metastore: Metastore, command: list[str], sentence: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [HMSTATS, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment(our_metastore),
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(sentence), done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("form", ["--json", "--csv"])
@pytest.mark.slow
def test_a_pipe_may_close_early(our_metastore: Metastore, form: str) -> None:
    columns = {f"column_{number}": "bigint" for number in range(900)}
    our_metastore.table("wide", columns)
    with client.connect(f"thrift://127.0.0.1:{our_metastore.port}") as service:
        data = LongStatistics(low=1, high=2, nulls=0, ndv=2)
        found = tuple(ColumnStatistics(name, kind, data) for name, kind in columns.items())
        service.put_table_statistics(TableName("hive", our_metastore.database, "wide"), StatisticsSet(found))
    done = subprocess.run(
        f"{HMSTATS} show {our_metastore.database}.wide {form} | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        env=environment(our_metastore),
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""

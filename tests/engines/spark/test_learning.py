"""The story of a broken statistic, with a real Spark: its queries name the column, and a refresh mends it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.servers import HMSTATS, serving

from hmstats.client import connect
from hmstats.client.tables.stored_statistics import own_statistics
from hmstats.learning.sources import queries_in
from hmstats.learning.spark.log_files import Skipped
from hmstats.model.feedback.queries import Operation, Operator
from hmstats.model.statistics.column_statistics import LongStatistics, StatisticsSet

pytestmark = [pytest.mark.spark, pytest.mark.slow]
SPARK = ("--master", "local[2]")


def hmstats(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command, with what it prints."""
    return subprocess.run([HMSTATS, *arguments], capture_output=True, text=True, timeout=300, check=False)


@dataclass(frozen=True)
class Shop:
    """A metastore with the tables of a shop, all analysed."""

    metastore: str
    folder: Path

    def spark(self, what: str, *settings: str) -> Path:
        """The log of a session that runs statements."""
        log = self.folder / f"log-{len(list(self.folder.glob('log-*')))}"
        log.mkdir()
        script = Path(__file__).with_name("spark_queries.py")
        given = [self.metastore, f"file:{self.folder}/warehouse", str(log), what, *settings]
        done = subprocess.run(
            [sys.executable, script, *given], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return log

    def run(self, *arguments: str) -> list[dict[str, Any]]:
        """What a command prints as JSON."""
        done = hmstats(*arguments, "--metastore", self.metastore, "--json")
        assert done.returncode == 0, done.stderr[-3000:]
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("learning")
    with serving(folder) as port:
        made = Shop(f"thrift://127.0.0.1:{port}", folder)
        made.spark("fill")
        for table in ("shop.orders", "shop.customers"):
            assert hmstats("analyze", table, "--metastore", made.metastore, *SPARK).returncode == 0
        yield made


def estimates(log: Path) -> list[tuple[float | None, int | None]]:
    """What Spark expected of each filter, and the rows that there were."""
    found: list[tuple[float | None, int | None]] = []
    for query in queries_in([log], Skipped()):
        walked: list[Operation] = list(query.root.walk())
        found += [(each.estimated, each.rows) for each in walked if each.operator is Operator.FILTER]
    return found


def test_a_broken_column_is_blamed_first_and_mended(shop: Shop) -> None:
    with connect(shop.metastore) as service:
        table = service.existing_table("shop.orders")
        columns = []
        for each in own_statistics(service, table).statistics.columns:
            if each.column == "customer":
                assert isinstance(each.data, LongStatistics)
                each = replace(each, data=replace(each.data, ndv=2, bit_vector=None), provenance=None)  # noqa: PLW2901
            columns.append(each)
        service.put_table_statistics(table.name, StatisticsSet(tuple(columns)))
    before = shop.spark("ask")
    assert (10_000, 13) in [(round(one or 0), other) for one, other in estimates(before)]

    (learned,) = shop.run("learn", str(before))
    assert learned["queries"] >= 4
    assert learned["recorded"] == learned["found"] > 0
    assert learned["without_estimates"] == 0
    first, *others = shop.run("blame", "shop.*")
    assert (first["table"], first["column"], first["verdict"]) == ("orders", "customer", "wrong")
    assert first["used_for"] == "equality"
    assert not first["analyzed_since"]
    beyond = {(each["table"], each["column"]) for each in others if each["verdict"] == "beyond"}
    assert beyond >= {("orders", "status"), ("customers", "name")}  # skew, and a pattern
    shown = hmstats("blame", "shop.*", "--metastore", shop.metastore).stdout.splitlines()
    assert shown[0] == "to do: hmstats refresh shop.orders"

    (planned, *_) = shop.run("refresh", "shop.*", "--dry-run", "--look-every", "none")
    assert (planned["table"], planned["blamed"]) == ("orders", True)
    assert planned["why"]["use"] > 1
    (done,) = shop.run("refresh", "shop.*", "--look-every", "none", *SPARK)
    assert (done["table"], done["outcome"]) == ("orders", "done")
    assert shop.run("refresh", "shop.*", "--dry-run", "--look-every", "none") == []
    assert [each["column"] for each in shop.run("blame", "shop.*") if each["analyzed_since"]] != []

    after = shop.spark("ask")
    assert (13, 13) in [(round(one or 0), other) for one, other in estimates(after)]
    shop.run("learn", str(after))
    open_ones = [each for each in shop.run("blame", "shop.*") if not each["analyzed_since"]]
    assert "wrong" not in {each["verdict"] for each in open_ones}


@pytest.mark.parametrize("codec", ["lz4", "snappy", "zstd"])
def test_compressed_and_rolled_logs(shop: Shop, codec: str) -> None:
    compressed = ("spark.eventLog.compress=true", f"spark.eventLog.compression.codec={codec}")
    log = shop.spark("ask", *compressed, f"spark.eventLog.rolling.enabled={str(codec != 'lz4').lower()}")
    (learned,) = shop.run("learn", str(log), "--dry-run")
    assert learned["queries"] >= 4
    assert set(learned["skipped"].values()) == {0}
    (again,) = shop.run("learn", *[str(each) for each in log.iterdir()], "--dry-run")
    assert again == learned


def test_logs_without_estimates_are_told(shop: Shop) -> None:
    log = shop.spark("ask", "spark.sql.ui.explainMode=formatted")
    done = hmstats("learn", str(log), "--metastore", shop.metastore)
    assert done.returncode == 0
    assert "without estimates" in done.stdout
    log = shop.spark("ask", "spark.sql.cbo.enabled=false")
    (learned,) = shop.run("learn", str(log), "--dry-run")
    assert learned["without_estimates"] == learned["queries"] >= 4

"""Spark's own Hive client lives on our server, and its tables are analysed and shown by the command line."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.servers import HMSTATS, serving

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@dataclass(frozen=True)
class Lived:
    """What a session saw, and where its tables are."""

    seen: dict[str, Any]
    metastore: str


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A server on which a whole Spark session was run, in a process of its own."""
    folder = tmp_path_factory.mktemp("spark")
    with serving(folder) as port:
        metastore = f"thrift://127.0.0.1:{port}"
        script = Path(__file__).with_name("spark_session.py")
        done = subprocess.run(
            [sys.executable, script, metastore, str(folder / "warehouse")],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        yield Lived(json.loads(done.stdout.splitlines()[-1]), metastore)


def test_a_whole_session(lived: Lived) -> None:
    assert lived.seen == {
        "filtered": 25,
        "partitions": ["region=0", "region=1", "region=2", "region=3"],
        "log": ["a", "b"],
        "view": 100,
        "renamed": 5,
        "tables": ["log", "names", "new", "sales"],
        "after": ["log", "names", "sales"],
    }


def test_its_table_is_analysed_and_shown(lived: Lived) -> None:
    analysed = hmstats("analyze", "shop.sales", "--metastore", lived.metastore, "--master", "local[2]")
    assert analysed.returncode == 0, analysed.stderr[-3000:]
    for target, expected in (
        (["shop.sales"], ["bigint", "0", "100", "0", "99"]),
        (["shop.sales", "--partition", "region=3"], ["bigint", "0", "25", "3", "99"]),
    ):
        shown = hmstats("show", *target, "--csv", "--metastore", lived.metastore)
        (found,) = (row for row in csv.DictReader(shown.stdout.splitlines()) if row["column_name"] == "id")
        names = ("column_type", "null_count", "distinct_count", "min_value", "max_value")
        assert [found[name] for name in names] == expected
        assert "bigint" in hmstats("show", *target, "--metastore", lived.metastore).stdout


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("show", "shop.nothing"), "shop.nothing"),
        (("show", "shop.sales", "--partition", "region=9"), "region=9"),
        (("analyze", "shop.nothing"), "shop.nothing"),
        (("analyze", "shop.sales", "--columns", "nope"), "nope"),
    ],
)
def test_what_is_not_there_is_one_sentence(lived: Lived, command: tuple[str, ...], sentence: str) -> None:
    done = hmstats(*command, "--metastore", lived.metastore)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("hmstats: ")
    assert sentence in last
    assert "Traceback" not in done.stderr


def hmstats(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command as a user runs it."""
    return subprocess.run([HMSTATS, *arguments], capture_output=True, text=True, timeout=300, check=False)

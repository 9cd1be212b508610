"""One session of a stock Spark on a real Hive Metastore and on ours: every statement answers the same.

On ours it runs wherever the tables lie: in the server's warehouse, in another folder, behind a link, in a database with
a location of its own, and in an object store that Spark and the server name by two schemes.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import hive, require
from tests.fixtures.object_stores.object_store import BUCKET, object_store
from tests.fixtures.servers import serving
from tests.peers.spark_jars import hadoop_s3

pytestmark = [pytest.mark.engines, pytest.mark.spark, pytest.mark.hive, pytest.mark.slow]

SESSIONS = Path(__file__).parent / "sessions"
STATEMENTS = SESSIONS / "spark_session.sql"
BETTER = {
    "SELECT count(*) FROM {s}.sales WHERE region like 'a%' AND day >= 1": "Hive 2.3 filters on texts only",
    "DESCRIBE EXTENDED {s}.sales PARTITION (region = 'us', day = 0)": "Hive lists the directory to count its files",
}
"""Where ours answers otherwise, and why; docs/reference/compatibility.md says the same."""

Answers = dict[str, dict[str, Any]]


def session(
    metastore: str,
    warehouse: Path | str,
    schema: str,
    statements: Path = STATEMENTS,
    *,
    folder: Path | None = None,
    conf: Mapping[str, str] | None = None,
) -> Answers:
    """What Spark answers to each statement; a statement that comes again is numbered.

    `warehouse` is a path or a URI, `folder` the working directory: where the warehouse is when not given.
    """
    place = f"file:{warehouse}" if isinstance(warehouse, Path) else warehouse
    given = [f"{name}={value}" for name, value in (conf or {}).items()]
    done = subprocess.run(
        [sys.executable, SESSIONS / "spark_session.py", metastore, place, statements, schema, *given],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=folder or Path(warehouse).parent,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = [line for line in done.stdout.splitlines() if line.startswith("{")]  # clients of Hive 4 log there too
    lines = [json.loads(line.replace(schema, "{s}")) for line in told]
    return {f"{number} {line['sql']}": line for number, line in enumerate(lines)}


@contextmanager
def ours(folder: Path) -> Iterator[tuple[str, Path]]:
    """A server of ours and its warehouse."""
    with serving(folder) as port:
        yield f"thrift://127.0.0.1:{port}", folder / "warehouse"


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What Spark answers on Hive 2.3.10."""
    folder = tmp_path_factory.mktemp("spark-hive")
    with hive("2.3", folder, f"hive.metastore.warehouse.dir=file:{folder}/warehouse") as port:
        return session(f"thrift://127.0.0.1:{port}", folder / "warehouse", "enginetest")


@pytest.fixture(scope="module")
def at_once(tmp_path_factory: pytest.TempPathFactory) -> list[Answers]:
    """What two Sparks answer that use one server of ours at the same time."""
    with ours(tmp_path_factory.mktemp("spark-ours")) as (metastore, warehouse), ThreadPoolExecutor(2) as pool:
        schemas = ("enginetest", "otherenginetest")
        return list(pool.map(lambda schema: session(metastore, warehouse, schema), schemas))


@pytest.mark.sampled
def test_the_session_ran_whole(expected: Answers) -> None:
    assert len(expected) == len(STATEMENTS.read_text().splitlines())


@pytest.fixture(params=[pytest.param("another folder", marks=pytest.mark.sampled), "a link", "a location"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> Answers:
    """What Spark answers when tables lie outside of the server's warehouse, for each layout."""
    with ours(tmp_path) as (metastore, warehouse):
        if request.param == "another folder":
            return session(metastore, tmp_path / "another", "anothertest")
        if request.param == "a link":
            (tmp_path / "behind").mkdir()
            (tmp_path / "link").symlink_to(tmp_path / "behind")
            return session(metastore, tmp_path / "link", "linktest")
        located = tmp_path / "located.sql"
        first, _, rest = STATEMENTS.read_text().partition(" WITH DBPROPERTIES")
        located.write_text(f"{first} LOCATION '{{w}}/{{s}}.db' WITH DBPROPERTIES{rest}")
        conf = {"spark.sql.warehouse.dir": f"file:{warehouse}"}
        return session(metastore, tmp_path / "own", "locatedtest", conf=conf, statements=located)


@pytest.fixture(scope="module")
def in_object_store(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What Spark answers that says s3a of a warehouse of which the server says s3."""
    require("mvn")
    folder = tmp_path_factory.mktemp("spark-s3")
    with object_store(folder) as store:
        conf = {f"spark.hadoop.{name}": value for name, value in store.hadoop.items()}
        conf["spark.jars"] = ",".join(map(str, hadoop_s3.jars()))
        with serving(folder, environment=store.environment, warehouse=f"s3://{BUCKET}/warehouse") as port:
            warehouse = f"s3a://{BUCKET}/warehouse"
            return session(f"thrift://127.0.0.1:{port}", warehouse, "storetest", folder=folder, conf=conf)


def test_every_statement_answers_as_on_hive_elsewhere(expected: Answers, elsewhere: Answers) -> None:
    assert _differing(expected, elsewhere) == []


@pytest.mark.sampled
def test_every_statement_answers_as_on_hive_in_an_object_store(expected: Answers, in_object_store: Answers) -> None:
    assert _differing(expected, in_object_store) == []


def _differing(expected: Answers, found: Answers) -> list[Any]:
    """What was answered otherwise: a statement is known by its number, since layouts have their own words."""
    assert len(found) == len(expected)
    pairs = zip(expected.values(), found.values(), strict=True)
    return [
        (one, other)
        for one, other in pairs
        if (one["error"], one["rows"]) != (other["error"], other["rows"]) and one["sql"] not in BETTER
    ]


@pytest.mark.parametrize("number", [0, 1])
def test_every_statement_answers_as_on_hive(expected: Answers, at_once: list[Answers], number: int) -> None:
    differing = {
        sql: (expected[sql], found)
        for sql, found in at_once[number].items()
        if found != expected[sql] and found["sql"] not in BETTER
    }
    assert differing == {}


def test_what_hive_refuses_is_answered(at_once: list[Answers]) -> None:
    found = [each for each in at_once[0].values() if each["sql"] in BETTER]
    assert [each["error"] for each in found] == [None] * len(BETTER)

"""Sessions of Flink SQL on a real Hive Metastore and on ours: every statement answers the same.

On ours they run wherever the tables lie: in the server's warehouse, and in another folder, behind a link and on an
object store, where the database has a location of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures import java_peers
from tests.fixtures.hive import hive
from tests.fixtures.object_stores.object_store import BUCKET, object_store
from tests.fixtures.servers import serving
from tests.peers.sessions import flink_session

from hmstats.client import connect
from hmstats.collector.dry_run import dry_run
from hmstats.collector.request.statement import Statement
from hmstats.errors import StatementError
from hmstats.model.catalog.objects import TableName

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

HERE = Path(__file__).parent
Answers = list[dict[str, Any]]
SESSIONS = ("flink_session.sql", "flink_iceberg_session.sql")
BETTER = {
    ("flink_session.sql", 34): "Hive answers more nulls than there are rows",
    ("flink_session.sql", 143): "Hive's rename marks all column statistics as accurate, stale ones too",
}
"""By session and line, from 1 on, where ours answers otherwise, and why (docs/reference/compatibility.md)."""


@pytest.fixture(scope="module", autouse=True)
def _java_and_maven() -> None:
    java_peers.need("Flink 1.20", 17, 17)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """What each statement of each session answers on Hive 3.1.3, whose client Flink has."""
    folder = tmp_path_factory.mktemp("flink-hive")
    with hive("3.1", folder, f"metastore.warehouse.dir=file:{folder}/warehouse") as port:
        return answers(port, folder)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """What each statement of each session answers on ours."""
    folder = tmp_path_factory.mktemp("flink-ours")
    with serving(folder) as port:
        return answers(port, folder)


@pytest.fixture(scope="module", params=["another folder", "a link"])
def elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """What each statement of each session answers on ours when tables lie outside of the server's warehouse."""
    folder = tmp_path_factory.mktemp("flink-elsewhere")
    (folder / "behind").mkdir()
    (folder / "link").symlink_to(folder / "behind")
    place = f"file:{folder}/{'link' if request.param == 'a link' else 'another'}"
    with serving(folder) as port:
        return answers(port, folder, warehouse=place)


@pytest.fixture(scope="module")
def in_object_store(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answers]:
    """What each statement of each session answers on ours, which says s3 where Flink says s3a."""
    folder = tmp_path_factory.mktemp("flink-object-store")
    with (
        object_store(folder) as store,
        serving(folder, warehouse=f"s3://{BUCKET}/warehouse", environment=store.environment) as port,
    ):
        found = answers(port, folder, f"s3a://{BUCKET}/warehouse", store.hadoop)
        assert not (folder / "warehouse").exists(), "tables lie on the local disk"
        return found


def answers(
    port: int, folder: Path, warehouse: str | None = None, store: Mapping[str, str] | None = None
) -> dict[str, Answers]:
    """What each statement answers, by session; a warehouse that is named is where the database is located."""
    metastore = f"thrift://127.0.0.1:{port}"
    texts = {each: (HERE / each).read_text() for each in SESSIONS}
    if warehouse:
        first, _, rest = texts[SESSIONS[0]].partition("WITH ('team'")
        located = "'hive.database.location-uri' = '{w}/{s}.db'"
        texts[SESSIONS[0]] = f"{first}WITH ({located}, 'team'{rest}"
    places: Any = {"warehouse": warehouse, "store": store}
    return {each: flink_session.answers(metastore, folder, text, **places) for each, text in texts.items()}


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive(
    expected: dict[str, Answers], found: dict[str, Answers], session: str
) -> None:
    assert len(expected[session]) == len((HERE / session).read_text().splitlines())
    differing = _differing(expected[session], found[session])
    assert {line: pair for line, pair in differing.items() if (session, line) not in BETTER} == {}
    assert differing.keys() == {line for at, line in BETTER if at == session}, "what is better is no longer different"


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive_elsewhere(
    expected: dict[str, Answers], elsewhere: dict[str, Answers], session: str
) -> None:
    differing = _differing(expected[session], elsewhere[session])
    assert {line: pair for line, pair in differing.items() if (session, line) not in BETTER} == {}


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive_in_an_object_store(
    expected: dict[str, Answers], in_object_store: dict[str, Answers], session: str
) -> None:
    differing = _differing(expected[session], in_object_store[session])
    assert {line: pair for line, pair in differing.items() if (session, line) not in BETTER} == {}


CONNECTORS = """\
CREATE CATALOG lake WITH ('type' = 'hive', 'hive-conf-dir' = '{w}/../flink-conf')
CREATE DATABASE lake.{s}
CREATE TABLE lake.{s}.made (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3')
CREATE TABLE lake.{s}.filed (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '{w}/files', 'format' = 'csv')
CREATE TABLE lake.{s}.lakes (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'delta', 'table-path' = '{w}/d')
"""


def test_tables_that_flink_alone_reads_are_not_analysed(tmp_path: Path) -> None:
    """To others each is an empty table without columns, of which 0 rows would be stored."""
    with serving(tmp_path) as port:
        metastore = f"thrift://127.0.0.1:{port}"
        made = flink_session.answers(metastore, tmp_path, CONNECTORS, "judged")
        assert [each["rows"] for each in made] == [["OK"]] * len(made)
        with connect(metastore) as service:
            assert sorted(service.table_names("judged")) == ["filed", "lakes", "made"]
            for table, connector in {"made": "datagen", "filed": "filesystem", "lakes": "delta"}.items():
                with pytest.raises(StatementError, match=f"judged.{table} is read by Flink alone.* {connector}: "):
                    dry_run(service, Statement(TableName("hive", "judged", table)))


def _differing(expected: Answers, found: Answers) -> dict[int, Any]:
    """By line what was answered otherwise; a statement is known by its line, since one has the database's location."""
    pairs = enumerate(zip(expected, found, strict=True), 1)
    return {line: pair for line, pair in pairs if {**pair[0], "sql": ""} != {**pair[1], "sql": ""}}

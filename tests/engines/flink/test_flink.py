"""Sessions of Flink SQL on a real Hive Metastore and on ours: every statement answers the same."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hive import hive
from tests.fixtures.servers import serving
from tests.peers import flink_session, launch

pytestmark = [pytest.mark.engines, pytest.mark.hive, pytest.mark.slow]

HERE = Path(__file__).parent
Answers = list[dict[str, Any]]
SESSIONS = ("flink_session.sql", "flink_iceberg_session.sql")
BETTER = {
    ("flink_session.sql", 34): "Hive answers more nulls than there are rows",
    ("flink_session.sql", 143): "Hive's rename marks all column statistics as accurate, stale ones too",
}
"""By session and line, from 1 on, where ours answers otherwise, and why; docs/compatibility.md says the same."""


@pytest.fixture(scope="module", autouse=True)
def _java_and_maven() -> None:
    try:
        launch.find_java(17, 17)
    except SystemExit as missing:
        pytest.skip(f"Flink 1.20: {missing}")
    if shutil.which("mvn") is None:
        pytest.skip("Flink comes from Maven, not found on this machine")


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


def answers(port: int, folder: Path) -> dict[str, Answers]:
    """What each statement answers, by session."""
    metastore = f"thrift://127.0.0.1:{port}"
    return {each: flink_session.answers(metastore, folder, (HERE / each).read_text()) for each in SESSIONS}


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive(
    expected: dict[str, Answers], found: dict[str, Answers], session: str
) -> None:
    assert len(expected[session]) == len((HERE / session).read_text().splitlines())
    pairs = enumerate(zip(expected[session], found[session], strict=True), 1)
    differing = {(session, line): pair for line, pair in pairs if pair[0] != pair[1]}
    assert {at: pair for at, pair in differing.items() if at not in BETTER} == {}
    assert differing.keys() == {at for at in BETTER if at[0] == session}, "what is better is no longer different"

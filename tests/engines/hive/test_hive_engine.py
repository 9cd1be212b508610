"""Hive's own query engine, 4.0.1 and 3.1.3, on our metastore: each statement answers as on a real Hive Metastore.

What the real one of the engine's release answered is in `tests/peers/hive_engine`, recorded by its `record`: a session
of everything that an engine does, one of statistics alone, and one of what alters leave of them. Their databases have
locations of their own. 4.0.1 runs the first two wherever these lie: in the server's warehouse, in another folder,
behind a link, and in an object store, and the first one in HDFS; 3.1.3 runs the second one in another folder.
"""

import json
import shutil
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.hdfs import hdfs
from tests.fixtures.object_stores.object_store import BUCKET, object_store
from tests.fixtures.servers import serving
from tests.peers.hive_engine import jars, run

pytestmark = [
    pytest.mark.engines,
    pytest.mark.hive,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="Hive's engine comes from Maven, not found on this machine"),
]

EXPLAINED = {
    ("session", "4.0"): {
        "Hive takes a null key's name for a text, and finds it by <>": (86, 98, 102),
        "Hive marks all column statistics as accurate when a column is changed": (173, 174, 175, 177, 179),
    },
    ("session", "3.1"): {
        "Hive does not merge into columns that are not marked as accurate": (79, 210, 212),
        "Hive takes the missing bounds of a partition that has nulls alone for 0": (95,),
        "Hive takes a null key's name for a text, and finds it by <>": (98, 102),
        "Hive finds statistics of fewer partitions than have them": (115,),
        "Hive tells no files, rows and bytes of a partitioned table": (116,),
        "Hive cannot merge into a partition's statistics": (118, 119, 128),
        "Hive marks all column statistics as accurate when a table gets another name": (177, 179),
    },
    ("session-statistics", "3.1"): {
        "Hive keeps a truncated table's column statistics, and does not merge into them": (122, 123, 225, 264),
        "Hive stores more nulls than an exact row count": (
            *(125, 126, 128, 129, 130, *range(133, 143), *range(147, 151)),
            *(213, 214, 215),
        ),
        "Hive plans with what it stored of more nulls": (159,),
        "Hive does not merge into columns that are not marked as accurate": (162, 163, 328, 333, 334, 346, 347, 349),
        "Hive cannot merge, and answers queries from what it had": (
            *(181, 182, 183, 185, 186, 187, 188, 190, 194, 195),
            *(319, 320),
        ),
        "Hive leaves a column's old name marked in its partitioned table": (256, 257),
        "Hive keeps the table's own mark when it gets or loses partitions": (232, 234, 237, 253),
        "Hive takes statistics of an insert-only table without write ids": (336, 337),
    },
    ("session-statistics", "4.0"): {
        "Hive orders decimals in merged bounds by their scale": (91,),
        "Hive keeps a truncated table's column statistics, and does not merge into them": (122, 123, 225, 264),
        "Hive stores more nulls than an exact row count": (
            *(125, 126, 128, 129, 130, *range(133, 143), *range(147, 153)),
            *(213, 214, 215),
        ),
        "Hive plans with what it stored of more nulls": (159,),
        "Hive does not merge into columns that are not marked as accurate": (162, 163, 263),
        "Hive, told to fetch sketches, joins neighbouring partitions before it extrapolates": (194, 195),
        "Hive marks all column statistics as accurate when a column is changed": (266,),
        "Hive keeps the table's own mark when it gets or loses partitions": (232, 234, 237, 253, 256, 257),
    },
    ("session-alters", "3.1"): {},
    ("session-alters", "4.0"): {},
}
"""By session and release: why statements answer otherwise, with their numbers from 1 on.

docs/reference/compatibility.md says the same.
"""

SESSIONS = ("session", "session-statistics")
ELSEWHERE = [(session, "4.0", layout) for session in SESSIONS for layout in ("another folder", "a link")]
ELSEWHERE.append(("session-statistics", "3.1", "another folder"))
Answers = list[dict[str, Any]]


def ours(folder: Path, session: str, release: str) -> Answers:
    """The engine's answers on ours."""
    with serving(folder) as port:
        place = f"file:{folder}/warehouse"
        statements = run.HERE / f"{session}.sql"
        return list(run.answers(f"thrift://127.0.0.1:{port}", place, folder / "engine", statements, release))


def elsewhere(folder: Path, session: str, release: str, layout: str) -> Answers:
    """The engine's answers on ours when the tables lie outside of the server's warehouse."""
    (folder / "behind").mkdir()
    (folder / "link").symlink_to(folder / "behind")
    place = f"file:{folder}/{'link' if layout == 'a link' else 'another'}"
    with serving(folder) as port:
        statements = run.HERE / f"{session}.sql"
        return list(run.answers(f"thrift://127.0.0.1:{port}", place, folder / "engine", statements, release))


def in_object_store(folder: Path, session: str) -> Answers:
    """The answers of Hive 4.0.1's engine on ours, which says s3a of a warehouse of which the server says s3."""
    with (
        object_store(folder) as store,
        serving(folder, warehouse=f"s3://{BUCKET}/warehouse", environment=store.environment) as port,
    ):
        place, statements = f"s3a://{BUCKET}/warehouse", run.HERE / f"{session}.sql"
        settings = {**store.hadoop, "hive.conf.hidden.list": "none"}  # Hive keeps the store's keys from its tasks
        return list(run.answers(f"thrift://127.0.0.1:{port}", place, folder / "engine", statements, store=settings))


def in_hdfs(folder: Path, session: str) -> Answers:
    """The answers of Hive 4.0.1's engine on ours when the warehouse of both is in HDFS."""
    with hdfs(folder) as name_node:
        place = f"hdfs://127.0.0.1:{name_node}/warehouse"
        with serving(folder, warehouse=place) as port:
            statements = run.HERE / f"{session}.sql"
            return list(run.answers(f"thrift://127.0.0.1:{port}", place, folder / "engine", statements))


@pytest.mark.parametrize(("session", "release"), EXPLAINED)
def test_every_statement_answers_as_on_hive(session: str, release: str, tmp_path: Path) -> None:
    check(session, release, ours(tmp_path, session, release))


@pytest.mark.parametrize(("session", "release", "layout"), ELSEWHERE)
def test_every_statement_answers_as_on_hive_elsewhere(session: str, release: str, layout: str, tmp_path: Path) -> None:
    check(session, release, elsewhere(tmp_path, session, release, layout))


@pytest.mark.parametrize("session", SESSIONS)
def test_every_statement_answers_as_on_hive_in_an_object_store(session: str, tmp_path: Path) -> None:
    check(session, "4.0", in_object_store(tmp_path, session))


def test_every_statement_answers_as_on_hive_in_hdfs(tmp_path: Path) -> None:
    check(SESSIONS[0], "4.0", in_hdfs(tmp_path, SESSIONS[0]))


def check(session: str, release: str, found: Answers) -> None:
    """What differs from a real metastore's answers is what is explained, and nothing else."""
    expected = recorded(session, release)
    assert [each["sql"] for each in found] == [each["sql"] for each in expected]
    assert len(expected) > 170
    differing = {
        number: (theirs["sql"], difference(theirs, mine))
        for number, (theirs, mine) in enumerate(zip(expected, found, strict=True), 1)
        if mine != theirs
    }
    explained = {number for numbers in EXPLAINED[session, release].values() for number in numbers}
    assert {number: lines for number, lines in differing.items() if number not in explained} == {}
    assert differing.keys() == explained, "what is explained is no longer different"


def recorded(session: str, release: str) -> Answers:
    """What the engine of a release answered on a real metastore."""
    answered = run.HERE / f"{session}-on-hive-{jars.RELEASES[release]}.jsonl"
    return [json.loads(line) for line in answered.read_text().splitlines()]


def difference(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """The lines by which two answers differ."""
    found = unified_diff(_lines(theirs), _lines(ours), lineterm="", n=0)
    return [line for line in found if not line.startswith(("---", "+++", "@@"))]


def _lines(answer: dict[str, Any]) -> list[str]:
    heads = [f"{key}: {value}" for key, value in answer.items() if key != "rows"]
    return heads + [line for row in answer.get("rows", []) for line in row.split("\n")]

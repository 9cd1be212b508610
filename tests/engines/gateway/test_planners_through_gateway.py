"""Trino and Presto through a gateway: every statement answers as at the Hive Metastore behind it."""

import math
import operator
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.engines.gateway.upstreams import GENERATIONS, ON_MARIADB, in_front_of, upstream
from tests.engines.test_planners import JDKS, SESSIONS, answers_at, planner
from tests.peers import launch

pytestmark = [
    pytest.mark.engines,
    pytest.mark.hive,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("mvn") is None, reason="the engines come from Maven, not found on this machine"),
]


SHORT = {"4.0": SESSIONS[:1]}
"""The sessions of a Hive 4, which lacks calls that both engines try again for minutes before they fail."""

_ROUNDED = 1e-4
"""How far numbers may be apart: a Hive on MariaDB keeps four decimals of doubles, as its schema says, a gateway all."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:E-?\d+)?")


def are_alike(one: Any, other: Any) -> bool:
    """Whether answers are the same but for numbers that a Hive on MariaDB has rounded, in the text of plans too."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_alike(one[each], other[each]) for each in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, str) and isinstance(other, str) and one != other:
        return _NUMBER.sub("", one) == _NUMBER.sub("", other) and all(
            math.isclose(*map(float, each), rel_tol=_ROUNDED)
            for each in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
        )
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=_ROUNDED)
    except (TypeError, ValueError):
        return False


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("dialect", list(JDKS))
def test_every_statement_answers_as_without_the_gateway(
    dialect: str, generation: str, postgres_server: str, tmp_path: Path
) -> None:
    try:
        launch.find_java(*JDKS[dialect], None)
    except SystemExit as missing:
        pytest.skip(f"{dialect}: {missing}")
    differing: dict[str, object] = {}
    sessions = SHORT.get(generation, SESSIONS)
    with upstream(generation, tmp_path, postgres_server) as direct, in_front_of(direct, tmp_path) as port:
        found = []
        for name, metastore in (("direct", direct), ("through", port)):
            (tmp_path / name).mkdir()
            with planner(dialect, metastore, tmp_path / name) as url:
                found.append({each: answers_at(dialect, url, each, tmp_path / name / "warehouse") for each in sessions})
    for session in sessions:
        expected, through = (each[session] for each in found)
        assert len(expected) > 20
        pairs = zip(expected, through, strict=True)
        same = are_alike if generation == ON_MARIADB else operator.eq
        differing |= {f"{session} {number}": pair for number, pair in enumerate(pairs, 1) if not same(*pair)}
    assert differing == {}

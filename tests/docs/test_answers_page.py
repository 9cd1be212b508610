"""docs/statistics/answers.md shows what happens: its Python is run, and so are its commands."""

import doctest
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import commands, web_visits
from tests.fixtures.metastores import Metastore
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.client import connect
from hmstats.errors import MissingStatistics, StatementError

PAGE = Path(__file__).parents[2] / "docs" / "statistics" / "answers.md"
pytestmark = pytest.mark.parametrize("our_metastore", ["hmstats-sqlite"], indirect=True)


@pytest.fixture
def web(our_metastore: Metastore) -> Iterator[str]:
    with web_visits(our_metastore) as address:
        yield address


def test_the_page_says_what_happens(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctest.testfile(
        str(PAGE),
        module_relative=False,
        globs={"address": web},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert (found.attempted > 10, found.failed) == (True, 0)
    monkeypatch.setenv("HMSTATS__METASTORE", web)
    shown = commands(PAGE)
    assert len(shown) == 6
    for command, output in shown:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.stdout == output, result.exception
    _check_problems()


def _check_problems() -> None:
    """Questions that have no answer are one sentence each."""
    problems = {
        "ask top web.visits country": "have no top-k sketch of column country: ANALYZE TABLE web.visits PARTITION",
        "ask bounds web.visits country": "web.visits has no statistics of column country in whole: ANALYZE TABLE",
        "ask distinct web.nope x": "table web.nope is not in the metastore at thrift://",
        "ask distinct web.visits x": "column x must be one of web.visits: age, app, session, country, ds",
        "ask count web.visits --partition ds=2020-01-01": "table web.visits has no partition ds=2020-01-01",
        "ask count web.visits --partition ds=2024-01-01 --where ds=1": "takes names of partitions or a filter",
        "ask top web.visits app --where \"ds > '2030-01-01'\"": "no partition of web.visits is asked about",
        "ask quantile web.visits app": "must have numbers, dates or times",
        "ask top web.visits ds": "is a partition key: its values are in the catalog",
        "ask top web.visits age -k 0": "k must be 1 or more, found 0",
        "ask quantile web.visits age --at x": "--at takes fractions from 0 to 1, separated by commas, found 'x'",
        "ask quantile web.visits age --at 2": "must be from 0 to 1",
        'ask count web.visits --where "nope = 1"': "Invalid key name in filter",
    }
    for command, problem in problems.items():
        result = CliRunner().invoke(app, shlex.split(command))
        assert result.stdout == ""
        assert problem in str(result.exception), command
        assert isinstance(result.exception, StatementError | MissingStatistics)
        assert "\n" not in str(result.exception)


def test_a_table_is_readable_at_the_prompt(web: str) -> None:
    with connect(web) as metastore:
        table = metastore.table("web.visits")
    lines = repr(table).splitlines()
    assert lines[0].startswith("web.visits: ")
    assert [line.split() for line in lines[1:3]] == [["Column", "Type"], ["age", "int"]]
    assert lines[-1].split() == ["ds", "date", "partition", "key"]
    assert "<td>session</td><td>bigint</td>" in table._repr_html_()

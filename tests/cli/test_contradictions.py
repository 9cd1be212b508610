"""Options that exclude each other, or would have no effect, are errors: nobody is asked, and nothing is done."""

import pytest
from typer.testing import CliRunner

from hmstats.cli.main import app
from hmstats.errors import StatementError

NOWHERE = ["--metastore", "thrift://127.0.0.1:1"]
USAGE = 2


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["analyze", "d.t", "--row-counts"], "--row-counts goes with --noscan only"),
        (["analyze", "d.t", "--noscan", "--sample", "0.1"], "--noscan reads no data"),
        (["analyze", "ANALYZE TABLE d.t COMPUTE STATISTICS NOSCAN", "--top-k"], "--noscan reads no data"),
        (["analyze", "d.t", "--bounds-only", "--histogram"], "--bounds-only computes no sketches"),
        (["analyze", "d.t", "--bounds-only", "--top-k"], "--bounds-only computes no sketches"),
        (["import", "--from-puffin", "d.t", "--table", "d.t"], "an import reads a file, the metastore of --from, or"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_makes_no_sense_of_a_table(command: list[str], sentence: str) -> None:
    found = CliRunner().invoke(app, [*command, *NOWHERE])
    assert isinstance(found.exception, StatementError)
    assert sentence in str(found.exception)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["lock", "d.t", "--refuse", "--drop", *NOWHERE], "exclude each other"),
        (["refresh", "--dry-run", "--watch", *NOWHERE], "does not go with --watch"),
        (["refresh", "--quiet-period", "5s", *NOWHERE], "goes with --watch only"),
        (["prefs", "show", "d.t", "--all", "--column", "l", *NOWHERE], "takes no --partition and no --column"),
        (["prefs", "show", "d.t", "--all", "--partition", "p=1", *NOWHERE], "takes no --partition and no --column"),
        (["migrate", "--sql", "--json"], "does not go with --json"),
        (["doctor", "--master", "local[1]"], "go with --spark only"),
        (["doctor", "--conf", "a=b"], "go with --spark only"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_makes_no_sense_at_all(command: list[str], sentence: str) -> None:
    found = CliRunner().invoke(app, command, env={"COLUMNS": "300"})
    assert found.exit_code == USAGE
    assert sentence in found.stderr

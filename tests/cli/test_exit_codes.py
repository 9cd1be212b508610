"""The exit code of an error: 3 only if a part of the work is known to be done."""

import re
import sys
from pathlib import Path

import pytest

from hmstats.cli import main
from hmstats.cli.exit_codes import ExitCode
from hmstats.errors import AnalysisIncomplete, HmstatsError, SettingsError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AnalysisIncomplete("column a of d.t was refused", report=object()), ExitCode.PARTLY_DONE),
        (AnalysisIncomplete("Spark's Java process has ended"), ExitCode.ERROR),
        (SettingsError("port must be a number"), ExitCode.ERROR),
    ],
)
def test_exit_code_of_an_error(
    error: HmstatsError, code: ExitCode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr("hmstats.cli.actions.config.show_settings", fail)
    monkeypatch.setattr(sys, "argv", ["hmstats", "config", "show"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == code
    assert capsys.readouterr().err == f"hmstats: {error}\n"


COMMANDS = Path(main.__file__).parent
NAMES = {
    "analysis": "analyze",
    "catalog_analysis": "analyze",
    "import_": "import",
    "check_access": "check-access",
    "supervision": "serve",
}
"""A module to its command, where the names differ."""


@pytest.mark.parametrize("code", [ExitCode.NO, ExitCode.PARTLY_DONE])
def test_the_page_names_each_command_that_ends_so(code: ExitCode) -> None:
    page = (COMMANDS.parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| {code.value} \| (.*) \|$", page, re.MULTILINE)
    modules = [each for each in COMMANDS.rglob("*.py") if f"ExitCode.{code.name}" in each.read_text("utf-8")]
    commands = {NAMES.get(each.stem, each.stem) for each in modules if each.stem != "main"}
    assert commands
    assert {each for each in commands if f"`{each}" not in row} == set()

"""The exit code of an error: 3 only if a part of the work is known to be done."""

import sys

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

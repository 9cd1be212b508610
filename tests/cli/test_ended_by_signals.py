"""A command that a signal ends says so and has the signal's exit code, whatever becomes of the KeyboardInterrupt."""

import signal
from contextlib import suppress

import pytest
import typer

from hmstats.cli.exit_codes import ExitCode
from hmstats.cli.interrupts import ended_by_signals
from hmstats.errors import AnalysisIncomplete


def interrupted(number: signal.Signals, follows: Exception) -> None:
    with ended_by_signals("nothing is lost"):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        raise follows


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("follows", [AnalysisIncomplete("Spark's Java process has ended"), typer.Exit(ExitCode.ERROR)])
def test_an_error_after_a_signal_is_its_consequence(
    number: signal.Signals, follows: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python drops an exception in a finalizer, such as one of py4j's objects has."""
    with pytest.raises(typer.Exit) as ended:
        interrupted(number, follows)
    assert ended.value.exit_code == 128 + number
    assert capsys.readouterr().err == f"hmstats: ended by {number.name}: nothing is lost\n"


def test_an_error_without_a_signal_is_an_error() -> None:
    with pytest.raises(AnalysisIncomplete, match="no signal came"), ended_by_signals("nothing is lost"):
        raise AnalysisIncomplete("no signal came")

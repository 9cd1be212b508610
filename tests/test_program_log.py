"""Standard output is the program's own, whether or not it has configured a log."""

import subprocess
import sys

import pytest

LISTENER = "from hmstats.collector.autogather.following.listener import Listener\n"
HEARD = "Listener(print).onSuccess('', None, 0)\n"
"""A plan that is not understood, of which the listener warns."""
STANDARD = "import logging; logging.basicConfig(format='%(levelname)s %(name)s %(message)s')\n"
STRUCTURED = (
    "import structlog, sys; structlog.configure(processors=[structlog.processors.JSONRenderer()],"
    " logger_factory=structlog.PrintLoggerFactory(sys.stderr))\n"
)


def ran(code: str) -> tuple[str, str]:
    """What Python prints to standard output, and to standard error."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize(
    ("configured", "begin"),
    [
        pytest.param("", "write not understood: reason=", id="nothing"),
        pytest.param(STANDARD, "WARNING hmstats.autogather write", id="logging", marks=pytest.mark.slow),
        pytest.param(STRUCTURED, '{"reason"', id="structlog", marks=pytest.mark.slow),
    ],
)
def test_a_warning_goes_where_the_program_wants_it(configured: str, begin: str) -> None:
    out, err = ran(f"{LISTENER}{configured}{HEARD}")
    assert out == ""
    assert err.startswith(begin), err
    assert "no attribute 'executedPlan'" in err


def test_what_needs_no_action_is_silent() -> None:
    assert ran("from hmstats.program_log import ProgramLog; ProgramLog('hmstats').info('done', table='t')") == ("", "")

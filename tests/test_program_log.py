"""Standard output is the program's own, whether or not it has configured a log."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hmstats

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


def test_events_are_words_joined_by_underscores() -> None:
    """One style, so that an operator who has seen some can search for the others."""
    sources = "\n".join(each.read_text() for each in Path(hmstats.__file__).parent.rglob("*.py"))
    events = re.findall(r"\b_log\.(?:debug|info|warning|error)\(\s*\"([^\"%]+)\"", sources)
    assert len(events) > 50
    assert [each for each in events if not re.fullmatch(r"[a-z]+(_[a-z]+)*", each)] == []

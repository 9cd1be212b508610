"""Lines for version checks that are idle, and checks that take too long."""

import time

import pytest
from tests.server.connections.test_prompt_replies import Source, question, serving, until_waits, wait_for_line
from tests.server.serving import Client

from hmstats.server.connections import prompt_replies


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> Source:
    """Answers at once; a lost line is opened again at once."""
    monkeypatch.setattr(prompt_replies, "_PAUSE_SECONDS", 0.0)
    return Source()


def test_a_line_that_is_idle_is_closed_and_another_is_opened(
    source: Source, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is between may have forgotten its connection. A question that is under way keeps it."""
    source.idle_seconds = 0.5
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.prompt, asked = False, len(source.questions)
        client.send(question(sequence=10))
        until_waits(source, asked + 1)
        time.sleep(2)
        assert [each.closed for each in source.lines] == [False]
        source.prompt = True
        source.lines[0].answer()
        assert client.reply().sequence == 10
        time.sleep(2)
        assert [each.closed for each in source.lines] == [True]
        wait_for_line(source, client)
        assert len(source.lines) == 2
    assert "version_line_lost" not in capsys.readouterr().out


def test_a_check_that_takes_too_long_is_left_to_workers(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_replies, "_PATIENCE_SECONDS", 0.5)
    with serving(source) as address, Client(address) as client:
        wait_for_line(source, client)
        source.prompt = False
        client.send(question(sequence=10))
        assert client.reply().sequence == 10
        assert source.lines[0].closed

"""The end of a command by Ctrl-C or SIGTERM: a line that says what stays, and the exit code of the signal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from hmstats.errors import HmstatsError

_ENDING = (signal.SIGINT, signal.SIGTERM)
_OF_SIGNALS = 128
"""What is added to a signal's number for the exit code, as shells do."""


@contextmanager
def ended_by_signals(what_stays: str) -> Iterator[None]:
    """Have both signals raise KeyboardInterrupt in the block; one that leaves it ends the command with a line.

    An error after a signal is its consequence: Spark's Java process ends by the same Ctrl-C, and Python drops a
    KeyboardInterrupt that is raised in a finalizer.
    """
    received: list[signal.Signals] = []

    def interrupt(number: int, _: object) -> NoReturn:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in _ENDING}
    try:
        yield
    except (KeyboardInterrupt, HmstatsError, typer.Exit) as error:
        if not received and not isinstance(error, KeyboardInterrupt):
            raise
        number = received[-1] if received else signal.SIGINT
        typer.echo(f"hmstats: ended by {number.name}: {what_stays}", err=True)
        raise typer.Exit(_OF_SIGNALS + number) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

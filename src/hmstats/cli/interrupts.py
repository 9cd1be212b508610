"""The end of a command by Ctrl-C or SIGTERM: a line that says what stays, and the exit code of the signal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

_ENDING = (signal.SIGINT, signal.SIGTERM)
_OF_SIGNALS = 128
"""What is added to a signal's number for the exit code, as shells do."""


@contextmanager
def ended_by_signals(what_stays: str) -> Iterator[None]:
    """Have both signals raise KeyboardInterrupt in the block; one that leaves it ends the command with a line."""
    received = [signal.SIGINT]

    def interrupt(number: int, _: object) -> NoReturn:
        received.append(signal.Signals(number))
        raise KeyboardInterrupt

    before = {each: signal.signal(each, interrupt) for each in _ENDING}
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"hmstats: ended by {received[-1].name}: {what_stays}", err=True)
        raise typer.Exit(_OF_SIGNALS + received[-1]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

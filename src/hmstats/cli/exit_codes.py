"""The exit codes of all commands; docs/reference/cli.md has the table for users."""

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit code of a command. `NO` is an answer: a difference, a wrong number, a problem was found."""

    DONE = 0
    NO = 1
    ERROR = 2
    PARTLY_DONE = 3

"""The sources of numbers: the programs that made them, and the versions of lakehouse tables that these have read."""

from collections.abc import Collection, Iterable

UNKNOWN_PROGRAM = "an unknown program"
_VERSION = ", "
"""The separator of a program and the version of the table that it read, such as a snapshot of Iceberg."""


def source_lines(tools: Iterable[tuple[str, str | None]]) -> list[str]:
    """A line for each program, with its columns; `tools` are columns and the programs that made their numbers.

    Nothing if one program made all of them, and no version of the table is known.
    """
    columns: dict[str, list[str]] = {}
    for column, tool in tools:
        columns.setdefault(tool or UNKNOWN_PROGRAM, []).append(column)
    if not are_worth_telling(columns):
        return []
    return [f"from {tool}: {', '.join(names)}" for tool, names in columns.items()]


def are_worth_telling(tools: Collection[str]) -> bool:
    """Whether several programs made numbers, or one of them names the version that it read."""
    return len(tools) > 1 or any(_VERSION in tool for tool in tools)

"""A result as Python's prompt and notebooks show it: a title, a table and notes, as plain text or as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 60
"""The most rows that are shown; the rest is counted."""


@dataclass(frozen=True, slots=True)
class View:
    """A title, a table and notes. Each row has as many texts as the header; a header without texts is not shown."""

    title: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()

    def text(self) -> str:
        """Lines of plain text, columns aligned."""
        lines = [[*self.header], *self._shown] if self._shown else []
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = ("  ".join(map(_pad, line, widths)).rstrip() for line in lines)
        return "\n".join((self.title, *aligned, *self._all_notes))

    def html(self) -> str:
        """An HTML fragment; all texts are escaped."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.header)
        rows = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in self._shown)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
        notes = "".join(f"<div>{escape(note)}</div>" for note in self._all_notes)
        return f"<div><b>{escape(self.title)}</b>{table}{notes}</div>"

    @property
    def _shown(self) -> Sequence[Sequence[str]]:
        return self.rows[:MOST_ROWS]

    @property
    def _all_notes(self) -> list[str]:
        more = len(self.rows) - MOST_ROWS
        return [*([f"... and {more:,} more"] if more > 0 else []), *self.notes]


def _pad(text: str, width: int) -> str:
    return f"{text:<{width}}"

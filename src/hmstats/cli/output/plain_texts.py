"""Texts of others for a terminal, which would obey some of their characters: names, reasons, frequent values."""

from rich.text import Text

_INSTEAD = "\ufffd"


def plain_text(text: str) -> str:
    """The text in one line, with U+FFFD for each control character."""
    return "".join(each if each.isprintable() else _INSTEAD for each in text)


def plain_lines(text: str) -> str:
    """The text in its lines, with U+FFFD for each other control character."""
    return "\n".join(map(plain_text, text.split("\n")))


def plain_cell(text: str) -> Text:
    """A cell of a table: its lines as they are, without Rich's markup and control characters."""
    return Text(plain_lines(text))
